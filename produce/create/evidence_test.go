package create_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

const looping = `#include <stdlib.h>
static int half(int x) {
  if (x & 1) return x / 2; else return x * 3;
}
__attribute__((noinline)) int loop(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s ^= i % 3 ? half(i) : 7 * s;
  return s;
}
int main(int argc, char **argv) {
  return loop(argc * 999) & 1;
}
`

// In an exact recording with jumps, the counts of the edges into a block, and of those out of it,
// add up to the block's count.
func TestEvidenceConservesFlow(t *testing.T) {
	testenv.NeedSweep(t)
	gcc, valgrind := testenv.Optional(t, "gcc"), testenv.Optional(t, "valgrind")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(looping), 0o600))
	for _, args := range [][]string{
		{gcc, "-O2", "-g", "prog.c", "-o", "prog"},
		{valgrind, "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file=out", "./prog"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.True(t, err == nil || cmd.ProcessState.ExitCode() == 1 && args[0] == valgrind, "%s", out)
	}
	recording, err := os.ReadFile(filepath.Join(dir, "out"))
	require.NoError(t, err)
	p := withEvidence(t, filepath.Join(dir, "prog"), func(b *samples.Binary) *samples.Set {
		set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{Jumps: true})
		require.NoError(t, err)
		return set
	})
	e := p.Evidence()
	require.NotNil(t, e)
	assert.Zero(t, e.Fraction)
	found := false
	for _, c := range e.Copies {
		out := make(map[int32]uint64)
		for _, j := range c.Jumps {
			out[j.From] += j.Count
		}
		for from, n := range out {
			assert.Equal(t, c.Blocks[from].Count, n, "%s, block %d of %+v", c.Symbol, from, c)
		}
		if c.Symbol == "loop" {
			found = true
			assert.NotEmpty(t, c.Jumps)
			assert.True(t, strings.HasSuffix(c.Unit, "/prog.c"))
			assert.Contains(t, places(c), [2]any{"half", profile.Position{File: c.Unit, Line: 3, Column: 23}})
			assert.EqualValues(t, 1, c.Blocks[0].Count)
		}
	}
	assert.True(t, found)
}

// places returns the functions and source positions of a function's basic blocks.
func places(c profile.CodeCopy) (all [][2]any) {
	for _, b := range c.Blocks {
		for _, p := range b.Places {
			all = append(all, [2]any{c.Frames[p.Frame].Function, p.Position})
		}
	}
	return all
}

// withEvidence makes a profile with evidence, which is the counts of basic blocks. It checks that
// the other counts equal those of a profile without evidence.
func withEvidence(t *testing.T, binary string, read func(*samples.Binary) *samples.Set) *profile.Profile {
	var made [2]*profile.Profile
	for i, options := range [][]symbolize.Option{nil, {symbolize.Columns()}} {
		f, err := symbolize.Open(binary, options...)
		require.NoError(t, err)
		b, err := samples.NewBinary(f.ELF(), binary)
		require.NoError(t, err)
		made[i], _, err = create.Profile(context.Background(), f, read(b), create.Options{Evidence: i > 0})
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	assert.NoError(t, profile.Compare(made[0], made[1]))
	assert.Nil(t, made[0].Evidence())
	return made[1]
}

// With branch stacks, the count of a block is the number of ranges across it, and the count of its
// fall-through is the number of ranges across its end. With addresses, the count of a block is the
// mean of its instructions.
func TestEvidenceOfSamples(t *testing.T) {
	for _, test := range []struct {
		samples  string
		fraction uint8
		counts   []uint64
		jumps    []profile.CodeJump
	}{
		{"3\n210-22c:10\n220-22c:70\n220-230:9\n0\n1\n22c->220:79\n", 8, []uint64{10 << 8, 89 << 8, 9 << 8}, []profile.CodeJump{{From: 1, To: 1, Count: 79 << 8}, {From: 1, To: 2, Count: 9 << 8}}},
		{"0\n2\n210:7\n230:5\n0\n", 8, []uint64{7 * 256 / 3, 0, 5 * 256 / 2}, nil},
	} {
		p := withEvidence(t, "../../input/symbolize/testdata/tiny5.so", func(*samples.Binary) *samples.Set {
			set, err := samples.Parse(strings.NewReader(test.samples))
			require.NoError(t, err)
			for bytes, n := range map[uint64]uint64{1: 80, 2: 10, 3: 9, 4: 1} {
				set.Sizes.Add(samples.CallSize{After: 0x22c, Bytes: bytes}, n)
			}
			set.Sizes.Add(samples.CallSize{After: 0x22b, Bytes: 1}, 5) // within an instruction
			return set
		})
		e := p.Evidence()
		require.NotNil(t, e)
		require.Len(t, e.Copies, 1)
		c := e.Copies[0]
		var counts []uint64
		sizes := []uint32{3, 6, 2} // without the padding before the loop
		for i, b := range c.Blocks {
			counts = append(counts, b.Count)
			assert.Equal(t, sizes[i], b.Size)
		}
		assert.Equal(t, test.fraction, e.Fraction)
		assert.Equal(t, test.counts, counts)
		assert.Equal(t, test.jumps, c.Jumps)
		require.Len(t, c.Sizes, 2, "sizes with at least an eighth of the calls, and the others")
		assert.Equal(t, []uint64{1, 80 << 8, profile.OtherSizes, 20 << 8}, []uint64{c.Sizes[0].Bytes, c.Sizes[0].Count, c.Sizes[1].Bytes, c.Sizes[1].Count})
		assert.Contains(t, c.Blocks[1].Places, c.Sizes[0].Place)
		assert.Equal(t, []string{"tiny", "more", "twice"}, []string{c.Frames[0].Function, c.Frames[1].Function, c.Frames[2].Function})
		at := func(line, column uint32) profile.Position {
			return profile.Position{File: c.Unit, Line: line, Column: column}
		}
		assert.Equal(t, at(13, 10), c.Frames[1].Call)
		assert.Equal(t, []uint32{12, 6}, []uint32{c.Frames[0].Declared, c.Frames[1].Declared})
		assert.Equal(t, []profile.Place{{Frame: 0, Position: at(13, 21), Factor: 1}, {Frame: 0, Position: at(14, 1), Factor: 1}}, c.Blocks[2].Places)
	}
}
