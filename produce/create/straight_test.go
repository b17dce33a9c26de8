package create

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A range is recognised as impossible if it contains an instruction that never continues with the
// next one, such as a return, whatever code follows it.
func TestCrosses(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		code    string
		end     uint64 // the last instruction of a range from 0
		crosses bool
	}{
		{elf.EM_X86_64, "90 90 eb fe 90", 2, false},
		{elf.EM_X86_64, "90 90 eb fe 90", 4, true},
		{elf.EM_X86_64, "e8 00 00 00 00 75 f9 90", 7, false}, // calls return, and conditions fail
		{elf.EM_X86_64, "ff e0 90", 2, true},
		{elf.EM_X86_64, "f3 c3 90", 2, true},
		{elf.EM_X86_64, "c5 fd 6f 07 62 f1 fd 48 6f 07 e9 00 00 00 00 90", 15, true}, // of AVX
		{elf.EM_X86_64, "c5 f8 77 c3 90 90 90 90 90", 8, true},                       // vzeroupper
		{elf.EM_X86_64, "c5 fc 77 b8 eb fe eb fe 90", 8, false},                      // vzeroall, and no jumps in a number
		{elf.EM_X86_64, "0f 0b 90", 2, true},
		{elf.EM_X86_64, "06 c3 90", 2, false}, // not to be decoded
		{elf.EM_386, "06 c3 90", 2, true},
		{elf.EM_AARCH64, "1f2003d5 c0035fd6 1f2003d5", 8, true},
		{elf.EM_AARCH64, "1f2003d5 c0035fd6 1f2003d5", 4, false},
		{elf.EM_AARCH64, "00000054 00000094 1f2003d5", 8, false}, // b.eq, bl
		{elf.EM_AARCH64, "00000014 1f2003d5", 4, true},
		{elf.EM_RISCV, "0000", 2, false},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		require.NoError(t, err)
		f := &elf.File{FileHeader: elf.FileHeader{Machine: c.machine}, Progs: []*elf.Prog{{
			ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_X, Vaddr: 0x1000, Filesz: uint64(len(code))}, ReaderAt: bytes.NewReader(code),
		}}}
		assert.Equal(t, c.crosses, newDecoder(f).crosses(0x1000, 0x1000+c.end), "%v %s", c.machine, c.code)
		assert.False(t, newDecoder(f).crosses(0x2000, 0x3000), "no code")
	}
}

// A range that continues after the end of a function, as duplicate entries in branch stacks cause,
// does not count for the function's lines.
func TestCrossingRanges(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", pieced, "-O2", "-g")
	f, _ := p.open(t)
	set := new(samples.Set)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] == "both" {
			all := offsets(t, f, s)
			set.Ranges.Add(samples.Range{Begin: all[0], End: all[0]}, 50)
			set.Ranges.Add(samples.Range{Begin: all[0], End: all[len(all)-1] + 64}, 7)
		}
	}
	made, report, err := Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	assert.Equal(t, uint64(7), report.CrossingRanges)
	for key, n := range flatten(made, false).positions {
		assert.Contains(t, []uint64{0, 50}, n, key)
	}
}

// noLine has code of clang that belongs to no line, and a call of line 0.
const noLine = `static inline int twice(int x) { return x * 2 + (x >> 3); }
__attribute__((noinline)) int work(int n, volatile int *p) {
  int s = 0;
  for (int i = 0; i < n; i++) {
#line 0
    s += twice(i) ^ *p;
#line 6
    s ^= 3;
  }
  return s;
}
int main(int argc, char **argv) { return work(20000 * argc, &argc) == 1; }
`

// Clang looks up the counts of code without a line at line 0, and reports that in its remarks.
func TestLineZero(t *testing.T) {
	testenv.NeedSweep(t)
	p := compile(t, testenv.Tool(t, "clang-22"), "prog.c", noLine, "-O1", "-g", "-fdebug-info-for-profiling")
	f, b := p.open(t)
	set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
	require.NoError(t, err)
	made, report, err := Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	assert.Greater(t, report.PlacedShare(), 0.999)
	positions := flatten(made, false).positions
	assert.Equal(t, uint64(20000), positions["work 65534 twice 0"], "%v", positions)
	assert.Contains(t, positions, "work 65534", "%v", positions)

	var file bytes.Buffer
	converted, _ := sampleprof.FromGCOV(made)
	_, err = sampleprof.WriteText(&file, converted)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "prog.prof"), file.Bytes(), 0o600))
	run(t, p.dir, testenv.Tool(t, "clang-22"), "-O1", "-g", "-fdebug-info-for-profiling", "-fprofile-sample-use=prog.prof", "-fsave-optimization-record", "-c", "prog.c")
	remarks, err := os.ReadFile(filepath.Join(p.dir, "prog.opt.yaml"))
	require.NoError(t, err)
	assert.Regexp(t, `NumSamples: +'20000'\n.*\n +- LineOffset: +'65534'`, string(remarks))
}
