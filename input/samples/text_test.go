package samples_test

import (
	"bytes"
	"debug/elf"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const small = `2
a50-a50:13
fe0-ff7:2001
1
a50:18446744073709551615
2
78ce->78b0:21790
854a->140c:1
`

func TestTextRoundTrip(t *testing.T) {
	for name, in := range map[string]string{"small": small, "empty": "0\n0\n0\n", "zeros": "1\n0-0:0\n1\n0:0\n1\n0->0:0\n"} {
		s, err := samples.Parse(strings.NewReader(in))
		require.NoError(t, err, name)
		require.Equal(t, in, text(t, s), name)
	}
}

// Parsing a text that google/autofdo has written, and writing it again, gives the same text.
func TestTextOfCorpus(t *testing.T) {
	for _, name := range []string{
		"lbr/test.samples", "lbr/propeller.samples", "vec/vec12d4.samples", "vec/vec16d5.samples", "lua/lua12.samples.gz", "lua/lua12.cpuclock.samples",
	} {
		in := testenv.CorpusData(t, "create", name)
		s, err := samples.Parse(bytes.NewReader(in))
		require.NoError(t, err, name)
		require.False(t, s.Empty())
		require.Equal(t, string(in), text(t, s), name)
	}
}

func TestTextIsTakenInAnyOrder(t *testing.T) {
	s, err := samples.Parse(iotest.OneByteReader(strings.NewReader(
		"3\r\nFE0-ff7:1\r\na50-a50:13\nfe0-FF7:2000 \n2\na50:18446744073709551615\na50:1\n2\n854a->140c:1\n78ce->78b0:21790\nmade by hand\n\x00")))
	require.NoError(t, err)
	require.Equal(t, small, text(t, s))
	require.False(t, s.Exact)
}

func TestTextFaults(t *testing.T) {
	long := strings.Repeat("1", 2<<20)
	for name, c := range map[string]struct {
		in           string
		class        error
		line, column int
		offset       int64
	}{
		"nothing":            {"", afdo.ErrTruncated, 1, 1, 0},
		"no number":          {"x\n", afdo.ErrSyntax, 1, 1, 0},
		"empty line":         {"\n0\n0\n", afdo.ErrSyntax, 1, 1, 0},
		"hexadecimal length": {"1a\n", afdo.ErrSyntax, 1, 2, 1},
		"negative length":    {"-1\n", afdo.ErrSyntax, 1, 1, 0},
		"great length":       {"18446744073709551616\n", afdo.ErrOverflow, 1, 1, 0},
		"length without end": {"18446744073709551615\n1-2:3\n", afdo.ErrTruncated, 3, 1, 27},
		"prefix":             {"1\n0x-2:3\n", afdo.ErrSyntax, 2, 3, 4},
		"another binary":     {"0\n0\n0\n// a\n0\n0\n0\n", afdo.ErrSyntax, 5, 1, 11},
		"of the linker":      {"1\n1-2:3\n1\n2->1:3\n", afdo.ErrSyntax, 5, 1, 17},
		"cut addresses":      {"0\n2\n", afdo.ErrTruncated, 3, 1, 4},
		"great offset":       {"1\n1-12345678123456789:3\n", afdo.ErrOverflow, 2, 3, 4},
		"great count":        {"1\n1-2:18446744073709551616\n", afdo.ErrOverflow, 2, 5, 6},
		"no count":           {"1\n1-2\n", afdo.ErrSyntax, 2, 4, 5},
		"negative count":     {"1\n1-2:-3\n", afdo.ErrSyntax, 2, 5, 6},
		"range as address":   {"0\n1\n1-2:3\n", afdo.ErrSyntax, 3, 2, 5},
		"branch as range":    {"1\n1->2:3\n0\n0\n", afdo.ErrSyntax, 2, 3, 4},
		"range as branch":    {"0\n0\n1\n1-2:3\n", afdo.ErrSyntax, 4, 2, 7},
		"more in a line":     {"1\n1-2:3 4\n", afdo.ErrSyntax, 2, 6, 7},
		"two lists":          {"0\n0\n", afdo.ErrTruncated, 3, 1, 4},
		"cut in a list":      {"0\n0\n2\n1->2:3\n", afdo.ErrTruncated, 5, 1, 13},
		"cut in a line":      {"0\n0\n2\n1->2:3\n1->", afdo.ErrSyntax, 5, 4, 16},
		"long line":          {"1\n" + long, afdo.ErrLimit, 2, 1<<20 + 1, 2 + 1<<20},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := samples.Parse(strings.NewReader(c.in))
			require.Nil(t, s, name)
			require.ErrorIs(t, err, c.class, name)
			require.Equal(t, c.class != afdo.ErrLimit, errorIs(err, afdo.ErrMalformed), name)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, name)
			require.Equal(t, []any{c.line, c.column, c.offset}, []any{fault.Line, fault.Column, fault.Offset}, "%s: %v", name, err)
		})
	}
}

// simpleperf inject writes the lists of several binaries into one text, each with its build ID.
// Read uses the lists of the requested binary.
func TestTextOfSeveralBinaries(t *testing.T) {
	const two = "// Please split this file. AutoFDO only accepts profile for one binary.\n" +
		"1\n10-18:3\n0\n1\n18->10:2\n// build_id: 0xabcdef0000000000000000000000000000000000\n// /system/a\n\n" +
		"1\n20-28:5\n0\n1\n28->20:4\n// build_id: 0x0000000000000000000000000000000000000000\n// /system/b\n"
	for _, c := range []struct{ path, id, want string }{
		{"a", "abcdef", "1\n10-18:3\n0\n1\n18->10:2\n"},
		{"renamed", "abcdef", "1\n10-18:3\n0\n1\n18->10:2\n"},
		{"b", "", "1\n20-28:5\n0\n1\n28->20:4\n"},
		{"b", "123456", "1\n20-28:5\n0\n1\n28->20:4\n"},
	} {
		b := plain(t, c.path, elf.ET_DYN)
		s, r, err := samples.Read(strings.NewReader(two), b, samples.Options{BuildID: c.id})
		require.NoError(t, err)
		require.Equal(t, c.want, text(t, s))
		require.Equal(t, uint64(8), r.Samples)
		require.Len(t, r.Objects, 2)
	}
	_, _, err := samples.Read(strings.NewReader(two), plain(t, "a", elf.ET_DYN), samples.Options{BuildID: "123456"})
	require.ErrorContains(t, err, "it has 5 of /system/b, 3 of /system/a (build id abcdef0000000000000000000000000000000000)")
	require.ErrorContains(t, err, "another build of that name ran")
	first, _, _ := strings.Cut(two, "\n\n")
	_, _, err = samples.Read(strings.NewReader(first), plain(t, "other", elf.ET_DYN), samples.Options{BuildID: "123456"})
	require.ErrorIs(t, err, afdo.ErrNotFound, "the only binary is another one")

	in := string(testenv.CorpusData(t, "simpleperf", "perf_inject.data"))
	f, err := elf.Open(testenv.Corpus(t, "simpleperf", "etm_test_loop"))
	require.NoError(t, err)
	defer f.Close()
	b, err := samples.NewBinary(f, "etm_test_loop")
	require.NoError(t, err)
	s, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
	require.NoError(t, err)
	lists, _, _ := strings.Cut(in, "//")
	require.Equal(t, lists, text(t, s))
}

// Read accepts the variants of the text form: Perforator writes offsets with 0x. llvm-profgen
// --skip-symbolization writes addresses, which count from the first segment of code or from 0, in
// one list or in a list for each calling context.
func TestTextOfOthers(t *testing.T) {
	s, _, err := samples.Read(strings.NewReader("1\n0xa50-0xa50:13\n0\n1\n0x78ce->0x78b0:2\n"), plain(t, "a", elf.ET_DYN), samples.Options{})
	require.NoError(t, err)
	require.Equal(t, "1\na50-a50:13\n0\n1\n78ce->78b0:2\n", text(t, s))

	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_EXEC}, Progs: []*elf.Prog{
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R, Vaddr: 0x400000, Memsz: 0x1000, Align: 0x1000}},
		load(0x1000, 0x402000, 0x1000),
	}}
	b, err := samples.NewBinary(f, "prog")
	require.NoError(t, err)
	for name, in := range map[string]string{
		"addresses": "2\n402010-402018:3\n402020-402020:1\n3\n402018->402010:2\n1->402020:5\n402018->900000:1\n",
		"code":      "2\n10-18:3\n20-20:1\n3\n18->10:2\nffffffffff->20:5\n18->500000:1\n",
		"offsets":   "2\n2010-2018:3\n2020-2020:1\n3\n2018->2010:2\n1->2020:5\n2018->500000:1\n",
		"contexts":  "[main:1 @ f]\n  1\n  402010-402018:3\n  1\n  402018->402010:2\n[main]\n  1\n  402020-402020:1\n  2\n  1->402020:5\n  402018->900000:1\n",
	} {
		s, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
		require.NoError(t, err, name)
		require.Equal(t, "2\n1010-1018:3\n1020-1020:1\n0\n1\n1018->1010:2\n", text(t, s), name)
		require.Equal(t, map[uint64]uint64{0x1020: 5}, maps.Collect(s.Entries.All()), name)
	}
}

// An error of the input is returned unchanged, and not taken for the end of the text.
func TestTextPassesErrorsOfTheInput(t *testing.T) {
	_, err := samples.Parse(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(small))))
	require.ErrorIs(t, err, iotest.ErrTimeout)
	s, err := samples.Parse(strings.NewReader(small))
	require.NoError(t, err)
	require.Error(t, s.Write(failing{}))
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }

// Merging Sets, in any order, gives the same Set as adding all of their samples to one Set.
func TestMergeAdds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var parts []*samples.Set
	all := new(samples.Set)
	for range 20 {
		part := new(samples.Set)
		for range 50 {
			a, b, n := random.Uint64N(8), random.Uint64N(8), random.Uint64N(1000)
			for _, s := range []*samples.Set{part, all} {
				s.Ranges.Add(samples.Range{Begin: a, End: b}, n)
				s.Addresses.Add(a, n+1)
				s.Branches.Add(samples.Branch{From: b, To: a}, n+2)
				s.AddTime(a, n)
			}
		}
		parts = append(parts, part)
	}
	sum := new(samples.Set)
	for _, i := range random.Perm(len(parts)) {
		sum.Merge(parts[i])
	}
	require.Equal(t, text(t, all), text(t, sum))
	require.Equal(t, all.Times, sum.Times)
}

func TestMergeSaturates(t *testing.T) {
	var a, b samples.Set
	for _, s := range []*samples.Set{&a, &b} {
		s.Addresses.Add(1, math.MaxUint64-1)
		s.Ranges.Add(samples.Range{Begin: 1, End: 2}, math.MaxUint64)
		s.Branches.Add(samples.Branch{From: 1, To: 2}, math.MaxUint64/2)
	}
	a.Merge(&b)
	require.Equal(t, "1\n1-2:18446744073709551615\n1\n1:18446744073709551615\n1\n1->2:18446744073709551614\n", text(t, &a))
}

func TestExactWithSampledIsSampled(t *testing.T) {
	exact := func() *samples.Set {
		s := &samples.Set{Exact: true}
		s.Addresses.Add(1, 1)
		return s
	}
	sampled := new(samples.Set)
	sampled.Addresses.Add(2, 1)
	s := new(samples.Set)
	s.Merge(exact())
	require.True(t, s.Exact, "nothing and exact counts are exact")
	s.Merge(new(samples.Set))
	require.True(t, s.Exact, "nothing adds no doubt")
	s.Merge(sampled)
	s.Merge(exact())
	require.False(t, s.Exact)
}

func FuzzAddressSamples(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("1\n1-2:3\n1\n1:2\n0\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := samples.Parse(bytes.NewReader(in))
		if err != nil {
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			require.LessOrEqual(t, fault.Offset, int64(len(in)))
			return
		}
		once := text(t, s)
		again, err := samples.Parse(strings.NewReader(once))
		require.NoError(t, err)
		require.Equal(t, once, text(t, again))
	})
}

// Read adds up the counts of all calling contexts, and sets Report.Flattened.
func TestFlattenedContexts(t *testing.T) {
	b := binary(t, "vec/vec12d5")
	for text, flattened := range map[string]bool{
		"[main:1 @ f]\n1\n1000-1016:5\n1\n1016->1000:2\n[f]\n1\n1000-1016:6\n0\n": true,
		"1\n1000-1016:11\n1\n1016->1000:2\n":                                      false,
	} {
		s, r, err := samples.Read(strings.NewReader(text), b, samples.Options{})
		require.NoError(t, err)
		require.Equal(t, flattened, r.Flattened, text)
		for _, n := range s.Ranges.All() {
			require.Equal(t, uint64(11), n)
		}
	}
}

// If ranges of llvm-profgen's addresses fit several bases, those that end in a branch decide.
// Report.Guessed is set if the base remains unclear.
func TestGuessedBase(t *testing.T) {
	b := binary(t, "vec/vec12d5")
	for text, guessed := range map[string]bool{
		"1\n0-4:5\n1\n16->0:2\n":            true,
		"1\n1000-1016:5\n1\n1016->1000:2\n": false,
		"1\n0-16:5\n1\n16->0:2\n":           false,
	} {
		_, r, err := samples.Read(strings.NewReader(text), b, samples.Options{})
		require.NoError(t, err)
		require.Equal(t, guessed, r.Guessed, text)
	}
}
