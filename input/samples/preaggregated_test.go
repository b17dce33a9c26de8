package samples_test

import (
	"bytes"
	"debug/elf"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
)

// preAggregated is a text with each kind of record of BOLT's pre-aggregated form and each kind of
// address.
const preAggregated = `E cycles
# a comment
T 402018 402010 402014 7
T 402018 402010 -1 1 1
R 402030 402020 402028 2 0
B 402018 402010 3 1
B X:7f00 402020 4 0
B ffffffffffffffff 402020 100 0
B 402018 abcdef12:402010 1000 0
B 402018 X:0 5 0
T 0123:402018 123:402010 123:402014 6 0
F 402010 402018 8
f 402010 402018 1
r 402020 402028 1

S 402024 9
S 999999 9
`

func TestPreAggregated(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_EXEC}, Progs: []*elf.Prog{
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R, Vaddr: 0x400000, Memsz: 0x1000, Align: 0x1000}},
		load(0x1000, 0x402000, 0x1000),
	}}
	b, err := samples.NewBinary(f, "prog")
	require.NoError(t, err)
	s, r, err := samples.Read(strings.NewReader(preAggregated), b, samples.Options{BuildID: "123"})
	require.NoError(t, err)
	require.Equal(t, "3\n1010-1014:13\n1010-1018:9\n1020-1028:3\n1\n1024:9\n2\n1018->1010:11\n1030->1020:2\n", text(t, s))
	require.Equal(t, map[uint64]uint64{0x1010: 6, 0x1020: 4}, maps.Collect(s.Entries.All()), "0123 is another build ID than 123")
	require.Equal(t, samples.PreAggregated, r.Format)
	require.Equal(t, []uint64{1156, 142}, []uint64{r.Samples, r.InBinary})

	// What is position-independent counts from where the first segment begins.
	f.Type = elf.ET_DYN
	b, err = samples.NewBinary(f, "prog")
	require.NoError(t, err)
	s, _, err = samples.Read(strings.NewReader("F 2010 2018 8\nB 2018 2010 7 0\n"), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, "1\n1010-1018:8\n0\n1\n1018->1010:7\n", text(t, s))
	var out bytes.Buffer
	require.NoError(t, s.WritePreAggregated(&out, b))
	require.Equal(t, "F 2010 2018 8\nB 2018 2010 7 0\n", out.String())
	for _, elsewhere := range []string{"1\n401010-401018:8\n0\n0\n", "0\n1\n401010:8\n0\n"} {
		s, _, err = samples.Read(strings.NewReader(elsewhere), b, samples.Options{})
		require.NoError(t, err)
		out.Reset()
		require.ErrorContains(t, s.WritePreAggregated(&out, b), "no sample lies in code of prog")
		require.Empty(t, out.String())
	}
}

func TestPreAggregatedFaults(t *testing.T) {
	for in, c := range map[string]struct {
		class        error
		line, column int
	}{
		"F 10 18 8\nG 1 2 3\n":        {afdo.ErrSyntax, 2, 1},
		"F 10 18 8\nF 10 x 3\n":       {afdo.ErrSyntax, 2, 6},
		"F 10 18\n":                   {afdo.ErrSyntax, 1, 8},
		"F 10 18 8 9\n":               {afdo.ErrSyntax, 1, 10},
		"B 10 18 8\n":                 {afdo.ErrSyntax, 1, 10},
		"T 10 18 8\n":                 {afdo.ErrSyntax, 1, 10},
		"S 10 18446744073709551616\n": {afdo.ErrOverflow, 1, 6},
		"S 12345678123456789 1\n":     {afdo.ErrOverflow, 1, 3},
		"S 123:12345678123456789 1\n": {afdo.ErrOverflow, 1, 7},
		"S :: 1\n":                    {afdo.ErrSyntax, 1, 4},
	} {
		_, _, err := samples.Read(strings.NewReader(in), plain(t, "ours", elf.ET_DYN), samples.Options{})
		require.ErrorIs(t, err, c.class, in)
		var fault *afdo.FormatError
		require.ErrorAs(t, err, &fault, in)
		require.Equal(t, []int{c.line, c.column}, []int{fault.Line, fault.Column}, "%q: %v", in, err)
	}
}
