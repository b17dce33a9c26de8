package samples_test

import (
	"debug/elf"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
)

// Malformed lines in the text of an Arm SPE recording are skipped and counted. If most lines are
// malformed, Read returns an error.
func TestDamagedSPE(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_EXEC, Machine: elf.EM_AARCH64}, Progs: []*elf.Prog{load(0x1000, 0x401000, 0x1000)}}
	b, err := samples.NewBinary(f, "prog")
	require.NoError(t, err)
	const (
		good   = "  401010  0x401010/0x401020/P/-/-/0/COND/-\n"
		bare   = "  401010  0x401010/401020/P/-/-/0/COND/-\n"
		other  = "  401014  0x401010/0x401020/P/-/-/0/COND/-\n"
		prefix = "  zz401010  0x401010/0x401020/P/-/-/0/COND/-\n"
		deep   = "  401010  0x401010/0x401020/P/-/-/0 0x401014/0x401010/P/-/-/0\n"
	)
	s, r, err := samples.Read(strings.NewReader(good+bare+good+other+good+prefix+good), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, []uint64{7, 3}, []uint64{r.Samples, r.Damaged})
	require.Equal(t, map[samples.Branch]uint64{{From: 0x1010, To: 0x1020}: 4}, maps.Collect(s.Branches.All()))
	require.Equal(t, map[uint64]uint64{0x1020: 4}, maps.Collect(s.Landings.All()))

	for name, in := range map[string]string{"most": good + bare + other, "all": bare + bare, "branch stacks": deep + deep + deep + bare} {
		_, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
		require.ErrorIs(t, err, afdo.ErrSyntax, name)
		require.ErrorIs(t, err, afdo.ErrMalformed, name)
		if name == "branch stacks" {
			require.NotContains(t, err.Error(), "SPE")
		} else {
			require.ErrorContains(t, err, "samples are damaged; if they are of SPE, print them with perf script --itrace=bl1", name)
		}
	}
	f.Machine = elf.EM_X86_64 // of other machines, a damaged line is one too many
	b, err = samples.NewBinary(f, "prog")
	require.NoError(t, err)
	_, _, err = samples.Read(strings.NewReader(good+good+good+bare), b, samples.Options{})
	require.ErrorIs(t, err, afdo.ErrSyntax)
}
