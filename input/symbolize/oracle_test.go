package symbolize

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// optional returns the path of the first of some programs that is installed. It skips the test if
// none is installed.
func optional(t testing.TB, names ...string) string {
	if path, ok := testenv.Find(names...); ok {
		return path
	}
	t.Skipf("none of %s is here", strings.Join(names, ", "))
	return ""
}

func llvmSymbolizer(t testing.TB) string {
	return testenv.Tool(t, "llvm-symbolizer-22", "/usr/lib/llvm-22/bin/llvm-symbolizer", "llvm-symbolizer")
}

func runTool(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
}

// allSymbols returns all functions in the symbol table of a file.
func allSymbols(t testing.TB, f *File) []Symbol {
	var symbols []Symbol
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		symbols = append(symbols, s)
	}
	return symbols
}

// A llvmFrame is one function in the answer of llvm-symbolizer for an address. The answer lists the
// innermost function first.
type llvmFrame struct {
	FunctionName  string
	FileName      string
	StartLine     uint32
	Line          uint32
	Discriminator uint32
}

// askLLVM runs llvm-symbolizer for some addresses of a binary, and returns its answer for each
// address.
func askLLVM(t testing.TB, binary string, addrs []uint64) [][]llvmFrame {
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(llvmSymbolizer(t), "--output-style=JSON", "--inlines", "--no-demangle", "-e", filepath.Base(binary))
	cmd.Stdin, cmd.Dir = &in, filepath.Dir(binary)
	out, err := cmd.Output()
	require.NoError(t, err)
	var answers [][]llvmFrame
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var a struct{ Symbol []llvmFrame }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &a))
		answers = append(answers, a.Symbol)
	}
	require.Len(t, answers, len(addrs))
	return answers
}

// An agreement counts how often this package and llvm-symbolizer return the same for an address.
type agreement struct {
	positions, different, low int
	examples                  []string
}

// lowCode is the end of the addresses near 0 that the comparison ignores. Debug info places
// functions that the linker has discarded at address 0, and llvm-symbolizer reports them for these
// addresses.
const lowCode = 0x10000

// compareWithLLVM compares this package with llvm-symbolizer for the first and the last byte of
// each span of a binary.
func compareWithLLVM(t testing.TB, binary string, opts ...Option) (a agreement) {
	f, err := Open(binary, opts...)
	require.NoError(t, err)
	defer f.Close()
	var addrs []uint64
	var spans []Span
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		for _, s := range code.Spans {
			if s.Instance == nil {
				continue
			}
			for _, addr := range []uint64{s.Low, s.High - 1} {
				addrs, spans = append(addrs, addr), append(spans, s)
			}
		}
	}
	for i, frames := range askLLVM(t, binary, addrs) {
		a.positions++
		borrowDeclarations(frames, spans[i])
		got, want := describeSpan(spans[i]), describeFrames(frames)
		switch {
		case got == want:
		case addrs[i] < lowCode:
			a.low++
		default:
			a.different++
			if len(a.examples) < 5 {
				a.examples = append(a.examples, fmt.Sprintf("%#x\nhere:\n%sllvm-symbolizer:\n%s", addrs[i], got, want))
			}
		}
	}
	return a
}

// borrowDeclarations copies from s the declaration lines that llvm-symbolizer does not know: for
// member functions without a line of their own, this package uses the line of the class.
func borrowDeclarations(frames []llvmFrame, s Span) {
	i := s.Instance
	for n := 0; n < len(frames) && i != nil; n, i = n+1, i.Caller {
		if frames[n].StartLine == 0 {
			frames[n].StartLine = i.Function.Line
		}
	}
}

func describeSpan(s Span) string {
	text, line := "", s.Line
	for i := s.Instance; i != nil; i = i.Caller {
		name := i.Function.Linkage()
		if i.Caller == nil {
			name = ""
		}
		text += fmt.Sprintf("%s %d: %d.%d %s\n", name, i.Function.Line, line.Line, line.Discriminator, base(line.File))
		line = i.Call
	}
	return text
}

// describeFrames returns an answer of llvm-symbolizer as text. It omits the name of the outermost
// function, because both tools take this name from the symbol table.
func describeFrames(frames []llvmFrame) string {
	text := ""
	for i, f := range frames {
		if i == len(frames)-1 {
			f.FunctionName = ""
		}
		text += fmt.Sprintf("%s %d: %d.%d %s\n", f.FunctionName, f.StartLine, f.Line, f.Discriminator, base(f.FileName))
	}
	return text
}

// base returns the last element of a path, or "" for an empty path.
func base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}

// withoutLibrary is a compiler flag with which the test programs do not include headers of the C++
// library. Compiling these headers takes longer than the rest of a test.
const withoutLibrary = "-DWITHOUT_LIBRARY"

// built contains the paths of the programs that build has compiled, by compiler and flags.
var built sync.Map

// build compiles the test programs with a compiler and flags, and returns the path of the binary.
// It compiles once for equal arguments.
func build(t testing.TB, compiler string, flags ...string) string {
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	for _, name := range []string{"shapes.cc", "shapes.h", "library.h", "other.cc"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	key := fmt.Sprintf("%q", append([]string{compiler}, flags...))
	if made, ok := built.Load(key); ok {
		require.NoError(t, os.WriteFile(prog, made.([]byte), 0o700))
		return prog
	}
	args := append([]string{"-w", "-no-pie", "shapes.cc", "other.cc", "-o", "prog"}, flags...)
	if !testenv.Sweep() {
		args = append(args, withoutLibrary)
	}
	runTool(t, dir, compiler, args...)
	if !slices.Contains(flags, "-gsplit-dwarf") { // which has a part of it stay where it was made
		made, err := os.ReadFile(prog)
		require.NoError(t, err)
		built.Store(key, made)
	}
	return prog
}

// agreementCases lists the compilers and flags of the programs for which this package is compared
// with llvm-symbolizer. All but the first run only with AFDO_SWEEP=1.
var agreementCases = []struct {
	name      string
	compilers []string
	flags     []string
}{
	{"gcc", []string{"g++"}, []string{
		"-O2 -g", "-O3 -g -gdwarf-4 -ffunction-sections", "-O2 -g1 -gz", "-O2 -g -flto", "-O2 -g -gsplit-dwarf",
		"-O2 -g -gsplit-dwarf -gdwarf-4", "-O2 -g -gsplit-dwarf -fdebug-types-section", "-O1 -g -gdwarf-3", "-O2 -g -gdwarf-2 -gstrict-dwarf", "-O2 -g -gdwarf64"}},
	{"gcc16", []string{"g++-16"}, []string{"-O2 -g", "-O3 -g -gdwarf-4", "-O2 -g1 -gz", "-O2 -g -gsplit-dwarf"}},
	{"clang", []string{"clang++-22", "/usr/lib/llvm-22/bin/clang++", "clang++"}, []string{
		"-O2 -g -gsplit-dwarf", "-O2 -g", "-O3 -g -gdwarf-4 -fdebug-info-for-profiling", "-O2 -g -gsplit-dwarf -gdwarf-4",
		"-O2 -g -flto -fuse-ld=lld", "-O2 -g1 -gz"}},
}

func TestAgreesWithLLVM(t *testing.T) {
	for _, c := range agreementCases {
		flags := c.flags
		if !testenv.Sweep() {
			flags = flags[:1]
		}
		for _, flags := range flags {
			t.Run(c.name+strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
				if c.name != "gcc" {
					testenv.NeedSweep(t)
				}
				t.Parallel()
				find := optional
				if c.name == "gcc" {
					find = testenv.Tool
				}
				a := compareWithLLVM(t, build(t, find(t, c.compilers...), strings.Fields(flags)...))
				assert.Zero(t, a.different, "of %d\n%s", a.positions, strings.Join(a.examples, "\n"))
				assert.Zero(t, a.low)
				assert.Greater(t, a.positions, 200)
			})
		}
	}
}

// TestBinaryAgreesWithLLVM compares this package with llvm-symbolizer for the binary that the
// environment variable AFDO_BINARY names.
func TestBinaryAgreesWithLLVM(t *testing.T) {
	binary := os.Getenv("AFDO_BINARY")
	if binary == "" {
		t.Skip("AFDO_BINARY names no binary")
	}
	a := compareWithLLVM(t, binary)
	t.Logf("%d positions, %d different, %d of them below %#x", a.positions, a.different+a.low, a.low, lowCode)
	assert.Zero(t, a.different, "of %d\n%s", a.positions, strings.Join(a.examples, "\n"))
}
