package main

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
)

// TestSampleCoversTheFlow checks that the simulated branch stacks cover each instruction in
// proportion to its execution count, within the sampling error.
func TestSampleCoversTheFlow(t *testing.T) {
	const runs = 1_000_000
	f := flow{
		// A function with a loop, entered at 0, that turns nine times at 8, calls at 12 and returns
		// at 24.
		counts: map[uint64]uint64{0: runs, 4: 10 * runs, 8: 10 * runs, 12: runs, 17: runs, 20: runs / 2, 24: runs},
		taken:  map[uint64]map[uint64]uint64{8: {4: 9 * runs}, 12: {100: runs}, 17: {24: runs / 2}},
		ends:   map[uint64]bool{24: true},
	}
	set := f.sample(1000)
	covered := make(map[uint64]uint64)
	for r, n := range set.Ranges.All() {
		for at := range f.counts {
			if at >= r.Begin && at <= r.End {
				covered[at] += n
			}
		}
	}
	for at, n := range f.counts {
		require.InEpsilon(t, float64(n)*stack/1000, float64(covered[at]), 0.05, "%d", at)
	}
	for b, n := range set.Branches.All() {
		require.InEpsilon(t, float64(f.taken[b.From][b.To])*stack/1000, float64(n), 0.05)
	}
	for at, n := range set.Addresses.All() {
		require.InEpsilon(t, float64(f.counts[at])/1000, float64(n), 0.2, "%d", at)
	}
}

// TestReadFlow checks that the counts, calls and jumps of a callgrind file are read, and that an
// unconditional jump does not continue with the next instruction.
func TestReadFlow(t *testing.T) {
	dir := t.TempDir()
	program, counts := filepath.Join(dir, "prog"), filepath.Join(dir, "callgrind.out")
	code := make([]byte, 64)
	code[0x16] = 0xeb
	require.NoError(t, os.WriteFile(program, code, 0o600))
	text := "version: 1\npositions: instr line\nevents: Ir\n\nob=(1) " + program + "\nfn=(1) main\n0x10 1 5\n+2 1 5\ncob=(2) /lib/c\ncalls=3 0x99\n* 1 77\ncalls=5 +0x20\n* 1 88\njcnd=4/5 -2\n* 1\njump=1 0x30\n+4 1\n0x16 1 1\nob=(2)\n0x10 1 7\ntotals: 18\n"
	require.NoError(t, os.WriteFile(counts, []byte(text), 0o600))
	segment := &elf.Prog{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_X, Filesz: 64, Memsz: 64}, ReaderAt: bytes.NewReader(code)}
	b, err := samples.NewBinary(&elf.File{Progs: []*elf.Prog{segment}}, program)
	require.NoError(t, err)
	f, err := readFlow(b, counts)
	require.NoError(t, err)
	require.Equal(t, map[uint64]uint64{0x10: 5, 0x12: 5, 0x16: 1}, f.counts)
	require.Equal(t, map[uint64]map[uint64]uint64{0x12: {0x32: 5, 0x10: 4}, 0x16: {0x30: 1}}, f.taken)
	require.Equal(t, map[uint64]bool{0x16: true}, f.ends)
}
