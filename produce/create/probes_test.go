package create

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// straight returns random ranges of code, each from a probe to an instruction that may branch, and
// calls of functions from their call probes. Both are addresses.
func straight(t *testing.T, f *symbolize.File) (map[samples.Range]uint64, map[samples.Branch]uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	ranges, branches := make(map[samples.Range]uint64), make(map[samples.Branch]uint64)
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		symbols = append(symbols, s)
	}
	probes, err := f.Probes(symbols)
	require.NoError(t, err)
	code := newDecoder(f.ELF())
	for _, p := range probes {
		s, ok, err := f.Symbol(p.Address)
		require.True(t, ok && err == nil)
		if p.Call {
			branches[samples.Branch{From: p.Address, To: symbols[random.IntN(len(symbols))].Low}] += random.Uint64N(1000)
		}
		if random.IntN(3) > 0 {
			ranges[samples.Range{Begin: p.Address, End: code.transfer(p.Address, s.High)}] += 1 + random.Uint64N(1000)
		}
	}
	maps.DeleteFunc(branches, func(_ samples.Branch, n uint64) bool { return n == 0 })
	return ranges, branches
}

// unsymbolized writes ranges and branches in the format of llvm-profgen --skip-symbolization, with
// addresses relative to the first code segment.
func unsymbolized(t *testing.T, f *symbolize.File, ranges map[samples.Range]uint64, branches map[samples.Branch]uint64) []byte {
	t.Helper()
	base := uint64(0)
	for _, p := range f.ELF().Progs {
		if p.Type == 1 && p.Flags&1 != 0 {
			base = p.Vaddr &^ 0xfff
			break
		}
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, len(ranges))
	for r, n := range ranges {
		fmt.Fprintf(&out, "%x-%x:%d\n", r.Begin-base, r.End-base, n)
	}
	fmt.Fprintln(&out, len(branches))
	for b, n := range branches {
		fmt.Fprintf(&out, "%x->%x:%d\n", b.From-base, b.To-base, n)
	}
	return out.Bytes()
}

// sampleFacts returns the counts, targets and checksums of a sample profile by function, chain of
// inlined calls and location. llvm-profgen raises the count of a call to the sum of its targets
// except in inlined functions. ProbeProfile always does, so sampleFacts also does it for
// llvm-profgen's profile.
func sampleFacts(p *sampleprof.Profile) map[string]uint64 {
	facts := make(map[string]uint64)
	for f := range p.Functions() {
		if f.Total == 0 {
			continue // llvm-profgen has more functions that did not run
		}
		name := p.Name(f.Name).Text
		facts[name+" total"], facts[name+" head"] = f.Total, f.HeadCount
		var walk func(records []sampleprof.Record, at string)
		walk = func(records []sampleprof.Record, at string) {
			targets := make(map[string]uint64)
			for i := 0; i < len(records); i++ {
				r := records[i]
				key := at + " " + locationText(uint32(r.Line), r.Discriminator)
				switch r.Kind {
				case sampleprof.KindCount:
					facts[key] += r.Count
				case sampleprof.KindTarget:
					facts[key+" calls "+p.Name(r.Name).Text] += r.Count
					targets[key] += r.Count
				case sampleprof.KindChecksum:
					facts[at+" checksum"] = r.Count
				case sampleprof.KindInlined:
					inner := key + " " + p.Name(r.Name).Text
					facts[inner+" total"] = r.Count
					walk(records[i+1:i+1+int(r.Span)], inner)
					i += int(r.Span)
				}
			}
			for key, n := range targets {
				facts[key] = max(facts[key], n)
			}
		}
		walk(f.Records, name)
	}
	return facts
}

// probedPrograms compiles programs with pseudo probes and more flags, or returns the one that
// AFDO_BINARY names.
func probedPrograms(t *testing.T, more ...string) (paths []string) {
	if own := os.Getenv("AFDO_BINARY"); own != "" {
		return []string{own}
	}
	for _, c := range []struct {
		compiler, source, text string
		flags                  []string
	}{
		{"clang-22", "prog.c", stacked, []string{"-O2", "-g"}},
		{"clang++-22", "prog.cc", initialised, []string{"-O2"}},
		{"clang++-22", "prog.cc", rebuilt, []string{"-O2", "-DEXTRA"}},
		{"clang++-22", "prog.cc", rebuilt, []string{"-O2", "-flto=thin", "-fuse-ld=lld"}},
		{"clang++-22", "prog.cc", rebuilt, []string{"-O3", "-no-pie", "-fdebug-info-for-profiling", "-g", "-ffunction-sections"}},
	}[:testenv.Rounds(1, 5)] {
		flags := slices.Concat([]string{"-g", "-fpseudo-probe-for-profiling"}, more, c.flags)
		paths = append(paths, compile(t, testenv.Tool(t, c.compiler), c.source, c.text, flags...).path)
	}
	return paths
}

// ProbeProfile makes the same profile as llvm-profgen from the same samples: all counts, totals,
// targets, head counts and checksums are equal. AFDO_BINARY may name another program.
func TestProbesAgreeWithProfgen(t *testing.T) {
	profgen := testenv.Tool(t, "llvm-profgen-22")
	paths := probedPrograms(t, "-fno-omit-frame-pointer")
	for _, path := range paths {
		f, b := program{path: path}.open(t)
		ranges, branches := straight(t, f)
		in := unsymbolized(t, f, ranges, branches)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "in"), in, 0o600))
		run(t, dir, profgen, "--binary="+path, "--unsymbolized-profile=in", "--format=text", "--output=out")
		out, err := os.Open(filepath.Join(dir, "out"))
		require.NoError(t, err)
		theirs, err := sampleprof.ParseText(out)
		out.Close()
		require.NoError(t, err)

		set, _, err := samples.Read(bytes.NewReader(in), b, samples.Options{})
		require.NoError(t, err)
		ours, report, err := ProbeProfile(f, set, Options{})
		require.NoError(t, err)
		require.Zero(t, report.CrossingRanges)
		require.InDelta(t, 1, report.PlacedShare(), 0.2)
		want, got := sampleFacts(theirs), sampleFacts(ours)
		require.Greater(t, len(want), 20)
		different := 0
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if want[key] != got[key] {
				if different++; different < 10 {
					t.Errorf("%s: %s: %d, by llvm-profgen %d", path, key, got[key], want[key])
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if _, ok := want[key]; !ok && !isLeftOut(want, key) {
				t.Errorf("%s: %s: %d, by llvm-profgen not at all", path, key, got[key])
			}
		}
		t.Logf("%s: %d facts, %d differ", path, len(want), different)
	}
}

// isLeftOut reports whether llvm-profgen's profile lacks a count for a known reason. The
// initialiser of a variable may be inlined into the initialiser of its file. llvm-profgen leaves
// out its body, and includes its counts in the totals of the enclosing functions.
func isLeftOut(theirs map[string]uint64, key string) bool {
	words := strings.Fields(key)
	i := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "__cxx_global_var_init") })
	if i < 0 || !strings.HasPrefix(words[0], "_GLOBAL__") {
		return false
	}
	body := strings.Join(words[:i+1], " ") + " "
	for other := range theirs {
		if strings.HasPrefix(other, body) {
			return false
		}
	}
	return true
}

// initialised is a C++ program with variables that are initialised by code.
const initialised = `
__attribute__((noinline)) int begin(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i ^ n;
  return s;
}
struct table {
  table(int n) { for (int i = 0; i < 8; i++) all[i] = n & 1 ? begin(i * n) : i; }
  int all[8];
};
table first(3), second(begin(5));
int third = begin(7);
int main(int argc, char **) { return first.all[argc] + second.all[argc] + third == 1; }
`

const goesCold = `
__attribute__((cold, noinline)) void rare(volatile int *s) { *s += 1; }
__attribute__((noinline)) int work(int n, volatile int *s) {
  for (int i = 0; i < n; i++) {
    if (i % 100 == 50) { rare(s); *s ^= 3; }
    *s += i;
  }
  return *s;
}
int main(int argc, char **argv) { volatile int s = argc; return work(2000, &s) == 7; }
`

// goesColdFlags are the options with which tests compile the program goesCold.
var goesColdFlags = []string{"-O2", "-gdwarf-4", "-fpseudo-probe-for-profiling", "-fno-inline", "-fno-omit-frame-pointer"}

// callgrind's executions become counts of probes, and clang reads the profile and generates other
// code with it. Samples without branches count for the whole block after a probe.
func TestProbesOfExecutions(t *testing.T) {
	clang := testenv.Tool(t, "clang-22")
	p := compile(t, clang, "prog.c", goesCold, goesColdFlags...)
	f, b := p.open(t)
	set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
	require.NoError(t, err)
	made, _, err := ProbeProfile(f, set, Options{})
	require.NoError(t, err)
	facts := sampleFacts(made)
	assert.Equal(t, uint64(1), facts["work head"])
	assert.Equal(t, uint64(20), facts["rare head"])
	counts := slices.Collect(maps.Values(facts))
	assert.Contains(t, counts, uint64(2000))
	assert.Contains(t, slices.Collect(maps.Keys(facts)), targetOf(facts, "rare", 20))

	sampled := new(samples.Set)
	for offset, n := range set.Addresses.All() {
		if n == 2000 {
			sampled.Addresses.Add(offset, n)
			break
		}
	}
	block, _, err := ProbeProfile(f, sampled, Options{})
	require.NoError(t, err)
	assert.Contains(t, slices.Collect(maps.Values(sampleFacts(block))), uint64(2000))

	if !testenv.Sweep() {
		return
	}
	path := filepath.Join(p.dir, "made.txt")
	var out bytes.Buffer
	_, err = sampleprof.WriteText(&out, made)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	build := func(flags ...string) []byte {
		run(t, p.dir, clang, append([]string{"-O2", "-fpseudo-probe-for-profiling", "-c", "prog.c", "-o", "prog.o"}, flags...)...)
		code, err := exec.Command(testenv.Tool(t, "objdump"), "-d", filepath.Join(p.dir, "prog.o")).Output()
		require.NoError(t, err)
		require.Contains(t, string(code), "<main>")
		return code
	}
	assert.NotEqual(t, build(), build("-fprofile-sample-use="+path, "-Werror=backend-plugin"))
}

// targetOf returns the key for a call target with the given name and n calls.
func targetOf(facts map[string]uint64, name string, n uint64) string {
	for key, have := range facts {
		if strings.HasSuffix(key, " calls "+name) && have == n {
			return key
		}
	}
	return "no call of " + name
}

// ProbeProfile returns an error if the sampled functions have no probes.
func TestNoProbes(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	set := new(samples.Set)
	set.Addresses.Add(offsetOf(t, f, b, "leaf"), 100)
	_, _, err := ProbeProfile(f, set, Options{})
	require.ErrorIs(t, err, ErrNoProbes)
}
