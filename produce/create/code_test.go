package create

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// CheckCode detects by the recorded addresses that a program was rebuilt. The recording of a
// stripped copy has no names that would show it.
func TestCheckCodeOfAnotherBuild(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	ran := compile(t, gcc, "library.c", library, "-O2", "-g")
	copied := program{dir: ran.dir, path: filepath.Join(ran.dir, "stripped")}
	require.NoError(t, exec.Command(testenv.Tool(t, "strip"), "-o", copied.path, ran.path).Run())
	recording := copied.callgrind(t)
	read := func(p program) error {
		f, b := p.open(t)
		b.Path = copied.path
		set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{})
		require.NoError(t, err)
		require.Empty(t, set.Names)
		require.NoError(t, CheckBuild(f, set), "there are no names to compare")
		return CheckCode(f, set)
	}
	require.NoError(t, read(ran))
	another := compile(t, gcc, "library.c", "int first(int a, int b) { return a / b; }\n"+library, "-O1", "-g")
	require.ErrorIs(t, read(another), ErrBuild)
}

func TestCheckCode(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	leaf, often := offsetOf(t, f, b, "leaf"), offsetOf(t, f, b, "often")
	set := new(samples.Set)
	set.Addresses.Add(leaf, 990)
	set.Addresses.Add(1<<40, 1000) // outside of the binary: nothing is known
	require.NoError(t, CheckCode(f, set))
	set.Branches.Add(samples.Branch{From: leaf, To: often}, 5)
	require.ErrorContains(t, CheckCode(f, set), "the recording is of another build of the binary: 100.0% of the branches are at instructions that do not branch, such as ")
	set.Addresses.Add(often+1, 11)
	require.ErrorContains(t, CheckCode(f, set), "1.1% of the samples are at addresses where no instruction begins")
}

// CheckCode accepts callgrind's counts of an instruction with a rep prefix: each repetition counts
// as a jump of the instruction to itself.
func TestCheckCodeOfRepeats(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	leaf := offsetOf(t, f, b, "leaf")
	set := new(samples.Set)
	set.Branches.Add(samples.Branch{From: leaf, To: leaf}, 100)
	require.NoError(t, CheckCode(f, set))
	set.Branches.Add(samples.Branch{From: leaf + 1, To: leaf + 1}, 100)
	require.ErrorIs(t, CheckCode(f, set), ErrBuild)
}
