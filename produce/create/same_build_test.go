package create

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A program is a program that a test has compiled.
type program struct{ dir, path string }

// built caches the programs that compile has built, by command and source.
var built = make(map[string][]byte)

// compile builds a program from one source file in a new folder. source is the name of the file.
// Its extension determines the language.
func compile(t testing.TB, compiler, source, text string, flags ...string) program {
	t.Helper()
	p := program{dir: t.TempDir()}
	p.path = filepath.Join(p.dir, "prog")
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, source), []byte(text), 0o600))
	args := append([]string{"-w", "-o", "prog", source}, flags...)
	key := fmt.Sprintf("%q", append([]string{text, compiler}, args...))
	if made, ok := built[key]; ok {
		require.NoError(t, os.WriteFile(p.path, made, 0o700))
		return p
	}
	run(t, p.dir, compiler, args...)
	made, err := os.ReadFile(p.path)
	require.NoError(t, err)
	built[key] = made
	return p
}

func run(t testing.TB, dir, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", tool, strings.Join(args, " "), out)
	return string(out)
}

// open opens the program as a samples.Binary.
func (p program) open(t testing.TB) (*symbolize.File, *samples.Binary) {
	t.Helper()
	f, err := symbolize.Open(p.path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	b, err := samples.NewBinary(f.ELF(), p.path)
	require.NoError(t, err)
	return f, b
}

// callgrind runs the program under callgrind and returns callgrind's output.
func (p program) callgrind(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(p.dir, "callgrind.out")
	run(t, p.dir, testenv.Tool(t, "valgrind"), "-q", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file="+out, p.path)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	return data
}

// executions returns callgrind's output for the program in a sweep. Otherwise it returns n
// executions of each instruction of the functions whose names begin with one of the given prefixes.
func (p program) executions(t *testing.T, n uint64, begin ...string) (*symbolize.File, *samples.Set) {
	t.Helper()
	f, b := p.open(t)
	if testenv.Sweep() {
		set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
		require.NoError(t, err)
		return f, set
	}
	set := new(samples.Set)
	code := newDecoder(f.ELF())
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if !slices.ContainsFunc(begin, func(b string) bool { return strings.HasPrefix(s.Names[0], b) }) {
			continue
		}
		for at := s.Low; at < s.High; at += max(1, code.next(code.at(at)).Size) {
			offset, ok := b.Layout.Offset(at)
			require.True(t, ok)
			set.Addresses.Add(offset, n)
		}
	}
	return f, set
}

// rebuilt is a program whose functions move if EXTRA is defined.
const rebuilt = `#include <map>
#include <string>
#ifdef EXTRA
__attribute__((noinline)) long never(long x) { volatile long a[9]; for (int i = 0; i < 9; i++) a[i] = x * i; return a[x % 9]; }
#endif
namespace {
template <class T> __attribute__((noinline)) T sum(T n) { T s = 0; for (T i = 0; i < n; i++) s ^= i * 3; return s; }
struct odd { int v; __attribute__((noinline)) bool operator()(int x) const { return (x ^ v) & 1; } };
}
static __attribute__((noinline)) int depth(int n) { return n < 2 ? n : depth(n - 1) ^ depth(n - 2); }
int main(int argc, char **argv) {
  std::map<std::string, int> m;
  for (int i = 0; i < 50; i++) m[std::to_string(i * 31 % 47)] += odd{argc}(i);
  return (sum<long>(3000 * argc) + depth(12) + m.size()
#ifdef EXTRA
    + (argc > 7 ? never(argc) : 0)
#endif
    ) == 1;
}
`

// callgrind's output has no build IDs. Its function names show that the program was rebuilt.
func TestRebuiltAfterCallgrind(t *testing.T) {
	testenv.NeedSweep(t)
	cxx := testenv.Tool(t, "g++")
	for _, level := range []string{"-O2", "-O0"} {
		then := compile(t, cxx, "prog.cc", rebuilt, "-g", level)
		now := compile(t, cxx, "prog.cc", rebuilt, "-g", level, "-DEXTRA")
		recording := then.callgrind(t)
		for _, p := range []program{then, now} {
			f, b := p.open(t)
			set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{})
			require.NoError(t, err)
			_, report, err := Profile(context.Background(), f, set, Options{})
			if p == then {
				require.NoError(t, err)
				assert.Greater(t, report.PlacedShare(), 0.98)
				require.NoError(t, CheckBuild(f, set))
				continue
			}
			require.ErrorIs(t, err, ErrBuild)
			require.Regexp(t, `[0-9.]+% of the samples are in functions of other names, such as .* at 0x[0-9a-f]+, which is .* now`, err.Error())
		}
	}
}

// jumping is a program with a function that jumps into the middle of another, as some of the C
// library do.
const jumping = `
asm(".text\n"
    ".type copying,@function\ncopying: mov %edi,%eax\n add $7,%eax\n jmp inside\n .size copying,.-copying\n"
    ".type moving,@function\nmoving: mov %edi,%eax\ninside: add $3,%eax\n dec %edi\n jnz inside\n ret\n .size moving,.-moving\n");
int copying(int);
__attribute__((noinline)) int work(int n) {
  int s = 0;
  for (int i = 1; i < n; i++)
    s += copying(i);
  return s;
}
int main(int argc, char **argv) { return work(100 * argc) == 1; }
`

// Callgrind keeps the name of a function after a jump into the middle of another function. Such a
// recording is accepted.
func TestBuildWithJumpsIntoFunctions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("assembly of x86-64")
	}
	gcc := testenv.Tool(t, "gcc")
	then := compile(t, gcc, "prog.c", jumping, "-g", "-O2")
	f, set := then.executions(t, 100, "main", "work", "copying", "moving")
	set.Names = make(map[uint64]string)
	for offset := range set.Addresses.All() {
		addr, _ := f.Address(offset)
		s, _, err := f.Symbol(addr)
		require.NoError(t, err)
		switch { // the name that callgrind has given stays, and it goes on with the name behind the jump
		case len(s.Names) == 0:
		case s.Names[0] == "moving":
			set.Names[offset] = "copying"
		default:
			set.Names[offset] = s.Names[0]
		}
	}
	now := compile(t, gcc, "prog.c", "int more(int n) { asm volatile(\".skip 256, 0x90\"); return n; }\n"+jumping, "-g", "-O2")
	for p, class := range map[program]error{then: nil, now: ErrBuild} {
		f, _ := p.open(t)
		inside := false
		for offset := range set.Addresses.All() {
			addr, _ := f.Address(offset)
			s, _, err := f.Symbol(addr)
			require.NoError(t, err)
			inside = inside || set.Names[offset] == "copying" && len(s.Names) > 0 && s.Names[0] == "moving"
		}
		require.True(t, inside || p == now)
		require.ErrorIs(t, CheckBuild(f, set), class)
	}
}

func TestSameName(t *testing.T) {
	const (
		lambda  = "_ZZ4mainENKUliE_clEi"
		generic = "_ZZ4wrapI2ByEDaRT_ENKUlOS1_E_clIRiEEbS2_" // of auto&&
		twice   = "_ZN1nL5twiceIZ4mainEUlT_E_EEiS1_"
	)
	for _, c := range []struct {
		shown, symbol string
		same          bool
	}{
		{"main", "main", true}, {"main", "mains", false}, {"memcpy@@GLIBC_2.14", "memcpy", true}, {"f.constprop.0", "f.constprop.0", true},
		{"foo::bar(int)", "_ZN3foo3barEi", true}, {"foo::bar", "_ZN3foo3barEi", true}, {"foo::barn(int)", "_ZN3foo3barEi", false},
		{"_ZN3foo3barEi", "_ZN3foo3barEi", true}, {"std::sort<int*>(int*, int *)", "_ZSt4sortIPiEvT_S1_", true},
		{"main::{lambda(int)#1}::operator()(int) const", lambda, true}, {"main", lambda, false},
		{"fo::o::operator+()", "_ZN2fo1oplEv", true}, {"fo::o::operator-()", "_ZN2fo1oplEv", false},
		{"r::step", "_ZN1r4step17h086b0cfd890a8ea9E", true}, {"r::stop", "_ZN1r4step17h086b0cfd890a8ea9E", false},
		{"r::step", "_RNvCs4fqI2P2rA04_1r4step", true}, {"r::stop", "_RNvCs4fqI2P2rA04_1r4step", false},
		{"bool wrap<By>(By&)::{lambda(auto:1&&)#1}::operator()<int&>(By&&) const", generic, true}, {"bool wrap<By>(By&)", generic, false},
		{"int n::twice<main::{lambda(auto:1)#1}>(auto:1)", twice, true}, {"int n::twices<main::{lambda(auto:1)#1}>(auto:1)", twice, false},
		{"n::C<auto:1>::C(auto:1)", "_ZN1n1CIiEC2Ei", true}, {"n::D<auto:1>::D(auto:1)", "_ZN1n1CIiEC2Ei", false},
		{"n::C<auto:1>::~C()", "_ZN1n1CIiED0Ev", true}, {"n::C<auto:1>::C()", "_ZN1n1CIiED0Ev", false},
		{"n::C<auto:1>::operator bool() const", "_ZNK1n1CIiEcvbEv", true}, {"n::C<auto:1>::f() const", "_ZNK1n1CcvbEv", false},
		{"non-virtual thunk to n::C<auto:1>::g(int)", "_ZThn16_N1n1CIiE1gEi", true}, {"n::C<auto:1>::h(int)", "_ZThn16_N1n1CIiE1gEi", false},
		{"operator\"\" _km(auto:1)", "_Zli3_kmy", true}, {"operator\"\" _mi(auto:1)", "_Zli3_kmy", false},
		{"f.cold", "f", true}, {"f() [clone .cold]", "_Z1fv", true}, {"foo::bar(int) [clone .cold]", "_ZN3foo3bazEi", false},
	} {
		assert.Equal(t, c.same, sameName(wholeName(c.shown), c.symbol), "%s %s", c.shown, c.symbol)
	}
}

// Callgrind keeps the name of a cold part, such as f.cold, after a jump from it back into the
// function. Such a recording is accepted.
func TestBuildWithColdPieces(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	for name, same := range map[string]bool{"leaf.cold": true, "often.cold": false} {
		set := new(samples.Set)
		leaf := offsetOf(t, f, b, "leaf")
		set.Addresses.Add(leaf, 100)
		set.Names = map[uint64]string{leaf: name}
		err := CheckBuild(f, set)
		assert.Equal(t, same, err == nil, "%s: %v", name, err)
	}
}
