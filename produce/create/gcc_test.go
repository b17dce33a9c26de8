package create

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// judged is a program with a hot lambda, a constructor, a template, and static functions of the
// same name in two files.
const judged = `#include <vector>
struct point {
  point(int a, int b) : x(a), y(b) {
    if (a > b)
      x = b;
  }
  int x, y;
};
template <class F> __attribute__((noinline)) int each(const std::vector<point> &all, F f) {
  int s = 0;
  for (auto &p : all)
    s += f(p);
  return s;
}
static inline int weigh(const point &p) {
  int w = p.x * 3;
  if (w & 4)
    w ^= p.y;
  return w;
}
int main(int argc, char **argv) {
  std::vector<point> all;
  for (int i = 0; i < 100 * argc; i++)
    all.push_back(point(i, argc * 50));
  int n = each(all, [&](const point &p) {
    int v = weigh(p);
    if (v > 100)
      v -= argc;
    return v;
  });
  return n & 1;
}
`

var foundCount = regexp.MustCompile(`(?m)^  count (\d+) in stmt: `)

// GCC accepts the profiles without a warning, and GCC 16 reports the counts that it found.
func TestGCCFindsCounts(t *testing.T) {
	testenv.NeedSweep(t)
	for compiler, version := range map[string]uint32{"g++": 2, "g++-16": 3} {
		t.Run(compiler, func(t *testing.T) {
			cxx := testenv.Optional(t, compiler)
			if out, err := exec.Command(cxx, "-dumpversion").Output(); err == nil && compiler == "g++" {
				if major, _ := strconv.Atoi(strings.TrimSpace(string(out))); major < 12 || major > 15 {
					t.Skip("this g++ does not read version 2")
				}
			}
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.cc"), []byte(judged), 0o600))
			run := func(args ...string) string {
				cmd := exec.Command(cxx, args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				return string(out)
			}
			run("-O2", "-g", "prog.cc", "-o", "prog")
			f, err := symbolize.Open(filepath.Join(dir, "prog"))
			require.NoError(t, err)
			defer f.Close()
			p, report, err := Profile(context.Background(), f, everyByte(t, f), Options{})
			require.NoError(t, err)
			assert.Greater(t, report.PlacedShare(), 0.99)
			var file bytes.Buffer
			_, err = gcov.Write(&file, p, gcov.WriteOptions{Version: version, ByteOrder: binary.LittleEndian})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.afdo"), file.Bytes(), 0o600))
			compile := []string{"-O2", "-g", "-c", "-fauto-profile=prog.afdo", "prog.cc", "-o", "prog.o"}
			if version < 3 { // which does not tell
				assert.Empty(t, run(compile...))
				return
			}
			assert.Empty(t, run(append(compile, "-fdump-ipa-afdo-all", "-fdump-ipa-afdo_offline-all")...))
			moved, err := filepath.Glob(filepath.Join(dir, "*.afdo_offline"))
			require.NoError(t, err)
			require.Len(t, moved, 1)
			dump, err := os.ReadFile(moved[0])
			require.NoError(t, err)
			assert.Contains(t, string(dump), "_ZN5pointC2Eii is defined in node")
			assert.NotContains(t, string(dump), "mismatched inline")
			dumps, err := filepath.Glob(filepath.Join(dir, "*.afdo"))
			require.NoError(t, err)
			found := make(map[string]bool)
			for _, name := range dumps {
				dump, err := os.ReadFile(name)
				require.NoError(t, err)
				for _, m := range foundCount.FindAllSubmatch(dump, -1) {
					found[string(m[1])] = true
				}
			}
			for _, count := range []string{"101", "102"} {
				assert.True(t, found[count], "counts of function %s are not found: %v", count, found)
			}
		})
	}
}

// everyByte returns samples in which each byte of main ran 101 times, and each byte of the
// program's other functions 102 times.
func everyByte(t *testing.T, f *symbolize.File) *samples.Set {
	set := new(samples.Set)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		count := uint64(101)
		if strings.HasPrefix(s.Names[0], "_Z4each") {
			count = 102
		} else if s.Names[0] != "main" {
			continue
		}
		for _, offset := range offsets(t, f, s) {
			set.Addresses.Add(offset, count)
		}
	}
	return set
}

// offsets returns the file offsets of a function's bytes.
func offsets(t *testing.T, f *symbolize.File, s symbolize.Symbol) []uint64 {
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	var all []uint64
	for a := s.Low; a < s.High; a++ {
		offset, ok := layout.Offset(a)
		require.True(t, ok)
		back, ok := f.Address(offset)
		require.True(t, ok)
		require.Equal(t, a, back)
		all = append(all, offset)
	}
	return all
}

// pieced is a program whose functions clang splits into parts that share source lines.
const pieced = `static __attribute__((noinline)) int both(int a, int b) { return (a & 3) && (b & 5) ? a : b; }
__attribute__((noinline)) long work(long n) {
  long s = 1;
  for (long i = 0; i < n; i++)
    s += (s & 1 ? both(s, i) : i) ^ (i & 4 ? s : 3);
  return s;
}
int main(int argc, char **argv) { return work(4000 * argc) == 1; }
`

// Parts of a function count as the function: a line in several parts has the same count as if it
// were in one part.
func TestPiecesAreTheFunction(t *testing.T) {
	testenv.NeedSweep(t)
	clang := testenv.Tool(t, "clang-22")
	of := func(flags ...string) flat {
		p := compile(t, clang, "prog.c", pieced, append(flags, "-O1", "-g", "-fuse-ld=lld")...)
		f, b := p.open(t)
		set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
		require.NoError(t, err)
		made, _, err := Profile(context.Background(), f, set, Options{})
		require.NoError(t, err)
		return flatten(made, false)
	}
	whole, pieces := of(), of("-fbasic-block-sections=all", "-funique-basic-block-section-names")
	require.Greater(t, len(whole.positions), 4)
	same(t, "positions", pieces.positions, whole.positions)
	same(t, "heads", pieces.heads, whole.heads)
}

const coroutine = `#include <coroutine>
#include <exception>
struct gen {
  struct promise_type {
    long v;
    gen get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long x) { v = x; return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> h;
  ~gen() { h.destroy(); }
  bool next() { h.resume(); return !h.done(); }
};
static __attribute__((noinline)) long mix(long x) { return x * 31 ^ x >> 3; }
gen numbers(long n) {
  long s = 1;
  for (long i = 0; i < n; i++) {
    s = mix(s) + i;
    if (s & 1)
      s ^= 0x55;
    co_yield s;
  }
}
int main(int argc, char **) {
  long t = 0;
  gen g = numbers(20000 * argc);
  while (g.next())
    t += g.h.promise().v;
  return t == 1;
}
`

// A coroutine's body has locations in the profile: those of the coroutine for clang, and those of a
// function of its own for GCC, in lines from the coroutine's declaration.
func TestCoroutines(t *testing.T) {
	for compiler, want := range map[string]string{
		"g++":        "_Z7numbersPZ7numberslE17_Z7numbersl.Frame.actor 3",
		"g++-16":     "_Z7numbersP17_Z7numbersl.Frame.actor 3",
		"clang++-22": "main 3 _ZN3gen4nextEv 0 _ZNKSt7__n486116coroutine_handleIN3gen12promise_typeEE6resumeEv 0 _Z7numbersl 3",
	} {
		t.Run(compiler, func(t *testing.T) {
			if compiler != "g++" {
				testenv.NeedSweep(t)
			}
			p := compile(t, testenv.Tool(t, compiler), "prog.cc", coroutine, "-std=c++20", "-O2", "-g")
			f, set := p.executions(t, 20000, "main", "_Z")
			made, report, err := Profile(context.Background(), f, set, Options{})
			require.NoError(t, err)
			assert.Greater(t, report.PlacedShare(), 0.99)
			positions := flatten(made, false).positions
			assert.InDelta(t, 20000, positions[want], 1, "%v", positions)
			for s := range made.Functions() {
				assert.NotRegexp(t, `\.(resume|destroy|cleanup)$`, made.SymbolName(s))
			}
			if compiler == "g++-16" {
				p.dumpsOfGCC16(t, made)
				dump, err := os.ReadFile(filepath.Join(p.dir, "prog.cc.019i.afdo_offline"))
				require.NoError(t, err)
				assert.Contains(t, string(dump), "with auto profile: "+strings.TrimSuffix(want, " 3"))
				assert.Regexp(t, `(?m)^ +3 +20000 _\d+ = mix \(`, string(dump))
			}
		})
	}
}

// begun is a program with a coroutine template that starts immediately, and with an awaiter that
// has code of its own.
const begun = `#include <coroutine>
#include <exception>
struct task {
  struct promise_type {
    long v = 0;
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(long x) { v = x; }
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> h;
};
struct wait {
  long &sum;
  long n;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) {
    for (long i = 0; i < n; i++)
      sum += sum ^ i;
    return n & 1;
  }
  long await_resume() const { return sum; }
};
template <class T> task add(T n, long &sum) {
  T s = 1;
  for (T i = 0; i < n; i++)
    s = s * 31 ^ i >> 3;
  co_await wait{sum, s & 7};
  for (T i = 0; i < n; i++)
    s = s * 7 ^ i >> 2;
  co_return s;
}
int main(int argc, char **) {
  long t = 0;
  for (long i = 0; i < 2000; i++) {
    task a = add(20L * argc, t);
    if (!a.h.done())
      a.h.resume();
    t += a.h.promise().v;
    a.h.destroy();
  }
  return t == 1;
}
`

// All code of a coroutine has a location if the coroutine is a template, if it begins with its
// body, and if clang made a function of the call of await_suspend, which it declares at line 0.
func TestBegunCoroutines(t *testing.T) {
	testenv.NeedSweep(t)
	for _, compiler := range []string{"g++", "g++-16", "clang++-22"} {
		for _, level := range []string{"-O1", "-O2"} {
			t.Run(compiler+level, func(t *testing.T) {
				p := compile(t, testenv.Tool(t, compiler), "prog.cc", begun, "-std=c++20", level, "-g")
				recording := p.callgrind(t)
				f, b := p.open(t)
				line := 1 + strings.Count(begun[:strings.Index(begun, "task add(")], "\n")
				actor := actorOf(t, f)
				all := agreesWithLLVM(t, p, recording, &gccCoroutine{uint32(line), actor})
				if actor != "" {
					p.agreesWithAssembly(t, compiler, level, all, actor, line)
				}
				set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{})
				require.NoError(t, err)
				_, report, err := Profile(context.Background(), f, set, Options{})
				require.NoError(t, err)
				assert.Greater(t, report.PlacedShare(), 0.9999)
			})
		}
	}
}

// agreesWithAssembly compares the locations of a coroutine's own code with the lines and
// discriminators that GCC gives to the instructions of its assembly. The coroutine ends with the
// first line that is only a brace.
func (p program) agreesWithAssembly(t *testing.T, compiler, level string, made *profile.Profile, actor string, line int) {
	t.Helper()
	own := strings.Index(strings.Join(strings.Split(begun, "\n")[line-1:], "\n"), "\n}")
	end := line + strings.Count(strings.Join(strings.Split(begun, "\n")[line-1:], "\n")[:own+1], "\n")
	want := make(map[string]bool)
	inside, at := false, ""
	for text := range strings.Lines(run(t, p.dir, compiler, "-std=c++20", level, "-g", "-S", "-o", "-", "prog.cc")) {
		label, isLabel := strings.CutSuffix(strings.TrimRight(text, "\n"), ":")
		loc := assembledLine.FindStringSubmatch(text)
		switch {
		case isLabel && !strings.HasPrefix(label, "."):
			inside, at = label == actor, ""
		case loc != nil:
			n, _ := strconv.Atoi(loc[1])
			d, _ := strconv.Atoi(loc[2])
			at = ""
			if n >= line && n <= end {
				at = locationText(uint32(n-line), uint32(d))
			}
		case inside && at != "" && assembledCode.MatchString(text):
			want[at] = true
		}
	}
	got := make(map[string]bool)
	for position := range flatten(made, false).positions {
		name, at, _ := strings.Cut(position, " ")
		if name == actor && !strings.Contains(at, " ") {
			got[at] = true
		}
	}
	assert.Equal(t, want, got)
}

// Patterns for GCC's assembly: the directive with a source line, and an instruction.
var (
	assembledLine = regexp.MustCompile(`^\t\.loc 1 (\d+) \d+(?: is_stmt \d)?(?: discriminator (\d+))?`)
	assembledCode = regexp.MustCompile(`^\t[a-z]`)
)

// actorOf returns the symbol that GCC gives to the body of the only coroutine of a program.
func actorOf(t *testing.T, f *symbolize.File) string {
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if strings.HasSuffix(s.Names[0], ".Frame.actor") {
			return s.Names[0]
		}
	}
	return ""
}

// dumpsOfGCC16 returns what GCC 16 prints about a profile of the program.
func (p program) dumpsOfGCC16(t *testing.T, made *profile.Profile) {
	t.Helper()
	var file bytes.Buffer
	_, err := gcov.Write(&file, made, gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "prog.afdo"), file.Bytes(), 0o600))
	run(t, p.dir, "g++-16", "-std=c++20", "-O2", "-g", "-c", "prog.cc", "-fauto-profile=prog.afdo", "-fdump-ipa-afdo_offline-all")
}

// distant is a function with lines beyond the 16 bits of versions 2 and 3.
const distant = `__attribute__((noinline)) int work(int n) {
  int s = 0;
#line 70001
  for (int i = 0; i < n; i++)
    s ^= i * 3;
#line 90001
  if (s == 12345678)
    s = n / 7;
  return s;
}
int main(int argc, char **argv) { return work(20000 * argc) == 1; }
`

// A profile with lines beyond 65,535 can be written, and GCC finds their counts.
func TestDistantLines(t *testing.T) {
	for compiler, version := range map[string]uint32{"gcc": 2, "gcc-16": 3} {
		t.Run(compiler, func(t *testing.T) {
			if version > 2 {
				testenv.NeedSweep(t)
			}
			p := compile(t, testenv.Tool(t, compiler), "prog.c", distant, "-O1", "-g")
			f, b := p.open(t)
			set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
			require.NoError(t, err)
			made, _, err := Profile(context.Background(), f, set, Options{})
			require.NoError(t, err)
			hottest := uint64(0)
			for key, n := range flatten(made, false).positions {
				if strings.HasPrefix(key, "work 7000") {
					hottest = max(hottest, n)
				}
			}
			assert.Equal(t, uint64(20000), hottest)
			assert.Contains(t, flatten(made, false).positions, "work 90001")

			var file bytes.Buffer
			losses, err := gcov.Write(&file, made, gcov.WriteOptions{Version: version, ByteOrder: binary.LittleEndian})
			require.NoError(t, err)
			assert.Positive(t, losses.FoldedLines)
			assert.Positive(t, losses.SilentLines)
			require.NoError(t, os.WriteFile(filepath.Join(p.dir, "prog.afdo"), file.Bytes(), 0o600))
			args := []string{"-O1", "-g", "-c", "prog.c", "-fauto-profile=prog.afdo"}
			if version > 2 { // which tells
				args = append(args, "-fdump-ipa-afdo_offline-all")
			}
			run(t, p.dir, compiler, args...)
			if version > 2 {
				dump, err := os.ReadFile(filepath.Join(p.dir, "prog.c.019i.afdo_offline"))
				require.NoError(t, err)
				assert.Regexp(t, `(?m)^ +4465 +20000 .* \* 3;`, string(dump))
			}
		})
	}
}
