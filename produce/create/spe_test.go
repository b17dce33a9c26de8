package create

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// arm is a function with a loop, a call and a conditional branch.
const arm = `int other(int);
int work(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i & 1 ? other(i) : i * 3;
  return s;
}
`

// Arm's SPE records single branches. A range begins at the target of each branch, or at the next
// instruction if the branch was not taken, and ends at the next jump, call or return.
func TestSPE(t *testing.T) {
	clang, lld := testenv.Tool(t, "clang-22"), testenv.Tool(t, "ld.lld-22")
	p := program{dir: t.TempDir()}
	p.path = filepath.Join(p.dir, "prog")
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "prog.c"), []byte(arm), 0o600))
	run(t, p.dir, clang, "--target=aarch64-linux-gnu", "-O1", "-g", "-c", "prog.c")
	run(t, p.dir, lld, "-shared", "prog.o", "-o", "prog")
	f, b := p.open(t)
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)

	// Every branch of the function, taken and not.
	code := newDecoder(f.ELF())
	text := ""
	begins := make(map[uint64]uint64)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] != "work" {
			continue
		}
		line := func(from, to uint64, flags string) {
			offset, ok := layout.Offset(to)
			require.True(t, ok)
			text += fmt.Sprintf("%x  %#x/%#x/%s/-/-/0/COND/-\n", from, from, to, flags)
			begins[offset]++
		}
		line(0x999999, s.Low, "P")
		for at := s.Low; at < s.High; at += 4 {
			if in := code.next(code.at(at)); in.Jumps && in.By != 0 {
				line(at, at+4+uint64(in.By), "P")
				if !in.Leaves {
					line(at, at+4, "MN")
				}
			} else if in.Calls {
				line(0x999998, at+4, "P")
			}
		}
	}
	set, _, err := samples.Read(strings.NewReader(text), b, samples.Options{HasBase: true})
	require.NoError(t, err)
	require.Zero(t, set.Ranges.Len())
	require.NoError(t, EndRanges(f, set))
	ranges := make(map[uint64]uint64)
	for r, n := range set.Ranges.All() {
		begin, _ := f.Address(r.Begin)
		end, _ := f.Address(r.End)
		for at := begin; at < end; at += 4 {
			in := code.next(code.at(at))
			assert.False(t, in.Leaves || in.Jumps || in.Calls, "%#x", at)
		}
		in := code.next(code.at(end))
		assert.True(t, in.Leaves || in.Jumps || in.Calls, "%#x", end)
		ranges[r.Begin] = n
	}
	assert.Equal(t, begins, ranges)
	for branch := range set.Branches.All() {
		from, _ := f.Address(branch.From)
		to, _ := f.Address(branch.To)
		assert.NotEqual(t, from+4, to, "what was not taken is no branch")
	}

	made, report, err := Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	assert.True(t, report.Ranges)
	assert.Greater(t, report.PlacedShare(), 0.99)
	positions := flatten(made, false).positions
	assert.Greater(t, len(positions), 4)
	var out bytes.Buffer
	require.NoError(t, set.Write(&out))
	assert.NotContains(t, out.String(), "0\n0\n0\n")
}
