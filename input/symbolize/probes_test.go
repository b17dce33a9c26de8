package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const probedProgram = `
#ifndef WITHOUT_LIBRARY
#include <map>
#include <string>
#else
namespace std {
struct string {
  unsigned size() const { return n; }
  char operator[](int i) const { return at[i]; }
  void operator+=(const char *s) { while (*s) at[n++ % 64] = *s++; }
  unsigned n;
  char at[64];
};
template <class K, class V> struct map {
  V &operator[](K k) {
    int i = 0;
    while (i < n && keys[i] != k) i++;
    if (i == n) keys[n++] = k;
    return values[i];
  }
  int size() const { return n; }
  int n = 0;
  K keys[64];
  V values[64] = {};
};
}
#endif
struct base { int n; base(int x); virtual int f(int x) { return x + n; } virtual ~base(); };
base::base(int x) : n(x) { while (n > 100) n -= 7; }
base::~base() { if (n > 3) n = 0; }
struct other : base { using base::base; int f(int x) override { return x % 3 ? x * n : base::f(x); } };
static int twice(int x) { return x < 50 ? 2 * x : x; }
__attribute__((noinline)) static int sum(base &b, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i & 1 ? b.f(i) : twice(i);
  return s;
}
__attribute__((cold, noinline)) static int rare(const std::string &s) { return s.size() ? s[0] : throw 1; }
int main(int argc, char **argv) {
  base a(argc);
  other b(argc + 3);
  std::map<int, std::string> m;
  for (int i = 0; i < 50 * argc; i++) m[i * 31 % 47] += "x";
  int s = sum(a, 100 * argc) + sum(b, 200);
  try { if (argc > 3) s += rare(m[3]); } catch (int) { s = 1; }
  return (s + m.size()) == 7;
}
`

// probed compiles a program with pseudo probes and opens it.
func probed(t *testing.T, flags ...string) *File {
	t.Helper()
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	key := fmt.Sprintf("%q with probes", flags)
	if made, ok := built.Load(key); ok {
		require.NoError(t, os.WriteFile(prog, made.([]byte), 0o700))
		return openProbed(t, prog)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.cc"), []byte(probedProgram), 0o600))
	args := append([]string{"-g", "-fpseudo-probe-for-profiling", "-o", "prog", "prog.cc"}, flags...)
	if !testenv.Sweep() {
		args = append(args, withoutLibrary)
	}
	cmd := exec.Command(testenv.Tool(t, "clang++-22"), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	made, err := os.ReadFile(prog)
	require.NoError(t, err)
	built.Store(key, made)
	return openProbed(t, prog)
}

func openProbed(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// describeProbes returns probes in the text form in which llvm-profgen prints them.
func describeProbes(probes []Probe) []string {
	var all []string
	for _, p := range probes {
		text := fmt.Sprintf("%x %s %d %t", p.Address, p.Body.Function.Name, p.Index, p.Call)
		context := ""
		for b := p.Body; b.Caller != nil; b = b.Caller {
			context = fmt.Sprintf(" @ %s:%d%s", b.Caller.Function.Name, b.Site, context)
		}
		all = append(all, text+context)
	}
	slices.Sort(all)
	return all
}

var (
	shownProbe = regexp.MustCompile(`\[Probe\]:\s+FUNC: (\S+) Index: (\d+) +(?:Discriminator: \d+ +)?Type: (\w+) +(?:Inlined:( @ .*\S))?`)
	shownCode  = regexp.MustCompile(`^ +([0-9a-f]+):\s`)
)

// llvmProbes returns the probes that llvm-profgen prints when it disassembles a binary.
func llvmProbes(t *testing.T, f *File) []string {
	t.Helper()
	out, err := exec.Command(testenv.Tool(t, "llvm-profgen-22"), "--binary="+f.Path(), "--show-pseudo-probe", "--show-disassembly-only", "--output="+os.DevNull).Output()
	require.NoError(t, err)
	var all, open []string
	for line := range strings.Lines(string(out)) {
		if m := shownProbe.FindStringSubmatch(line); m != nil {
			open = append(open, fmt.Sprintf("%s %s %t%s", m[1], m[2], m[3] != "Block", m[4]))
		} else if m := shownCode.FindStringSubmatch(line); m != nil {
			for _, p := range open {
				all = append(all, m[1]+" "+p)
			}
			open = nil
		}
	}
	slices.Sort(all)
	return all
}

// Probes returns the same probes at the same addresses as llvm-profgen.
func TestProbesAgreeWithLLVM(t *testing.T) {
	for _, flags := range [][]string{
		{"-O2"},
		{"-O3", "-ffunction-sections", "-fsplit-machine-functions", "-fdebug-info-for-profiling", "-no-pie"},
		{"-O1", "-gz", "-fno-unique-internal-linkage-names"},
	}[:testenv.Rounds(1, 3)] {
		f := probed(t, flags...)
		require.True(t, f.HasProbes())
		probes, err := f.Probes(allSymbols(t, f))
		require.NoError(t, err)
		require.Greater(t, len(probes), 100)
		want := llvmProbes(t, f)
		require.Equal(t, want, describeProbes(probes), "%q", flags)
		require.True(t, slices.IsSortedFunc(probes, func(a, b Probe) int { return int(a.Address) - int(b.Address) }))
	}
}

// Probes returns only the probes of the requested functions, with all bodies into which their
// bodies were inlined.
func TestProbesOfAFunction(t *testing.T) {
	f := probed(t, "-O2")
	all, err := f.Probes(allSymbols(t, f))
	require.NoError(t, err)
	for _, s := range allSymbols(t, f) {
		var want []Probe
		for _, p := range all {
			if p.Address >= s.Low && p.Address < s.High {
				want = append(want, p)
			}
		}
		got, err := f.Probes([]Symbol{s})
		require.NoError(t, err)
		require.Equal(t, describeProbes(want), describeProbes(got), s.Names)
		for _, p := range got {
			require.NotZero(t, p.Body.Function.Checksum, p.Body.Function.Name)
		}
	}
}

// For a program without pseudo probes, Probes returns no probe and no error.
func TestNoProbes(t *testing.T) {
	f, err := Open("testdata/tiny5.so")
	require.NoError(t, err)
	defer f.Close()
	require.False(t, f.HasProbes())
	probes, err := f.Probes(allSymbols(t, f))
	require.NoError(t, err)
	require.Empty(t, probes)
}

// probeFile returns a File with a function main, whose sections .pseudo_probe and
// .pseudo_probe_desc have the given contents.
func probeFile(probes, descriptions []byte) (*File, []Symbol) {
	o := &object{path: "prog", order: binary.LittleEndian, elf: &elf.File{}, byName: make(map[string]*section)}
	for _, s := range []*section{
		{name: probeSection, data: probes, size: uint64(len(probes))}, {name: probeDescSection, data: descriptions, size: uint64(len(descriptions))},
		{name: ".strtab", data: []byte("\x00main\x00"), size: 6},
	} {
		s.file, s.object = o.path, o
		s.loaded.once.Do(func() {})
		o.sections = append(o.sections, s)
		o.byName[s.name] = s
	}
	main := Symbol{Low: 0x1000, High: 0x2000, Names: []string{"main"}}
	table := &symbolTable{rows: []symbolRow{{low: main.Low, high: main.High, name: 1}}, strings: o.sections[2]}
	return &File{binary: o, symbols: table}, []Symbol{main}
}

// probeBody encodes the body of a function: its head with the numbers of probes and inlined bodies,
// and then rest, the encoded probes.
func probeBody(name string, probes, inlined byte, rest ...byte) []byte {
	head := binary.LittleEndian.AppendUint64(nil, symname.GUID(name))
	return append(append(head, probes, inlined), rest...)
}

func description(name string) []byte {
	head := binary.LittleEndian.AppendUint64(nil, symname.GUID(name))
	head = binary.LittleEndian.AppendUint64(head, 77)
	return append(append(head, byte(len(name))), name...)
}

func TestProbesByHand(t *testing.T) {
	inner := slices.Concat([]byte{2}, probeBody("f", 2, 0, 1, probeRelative, 4, 0xff, 1, probeRelative|probeDiscriminated|1, 8, 3))
	probes := slices.Concat(
		probeBody("gone", 1, 0, 1, probeRelative, 4), // its function is not there
		probeBody("main", 1, 1, 1, probeRelative, 0), inner,
		probeBody("main", 2, 0, slices.Concat([]byte{0, probeSentinel}, binary.LittleEndian.AppendUint64(nil, symname.GUID("main")), []byte{9, probeRelative, 16})...),
	)
	f, wanted := probeFile(probes, slices.Concat(description("f"), description("main"), description("other")))
	got, err := f.Probes(wanted)
	require.NoError(t, err)
	require.Equal(t, []string{"1000 main 1 false", "1004 f 1 false @ main:2", "100c f 255 true @ main:2", "1010 main 9 false"}, describeProbes(got))
	require.Equal(t, uint32(3), got[2].Discriminator)
	require.Equal(t, Probed{Name: "f", GUID: symname.GUID("f"), Checksum: 77}, *got[1].Body.Function)
}

func TestProbeFaults(t *testing.T) {
	good := probeBody("main", 1, 0, 1, probeRelative, 0)
	known := description("main")
	for name, c := range map[string]struct {
		probes, descriptions []byte
		class                error
		part                 string
		offset               int64
	}{
		"head":          {good[:6], known, afdo.ErrTruncated, probeSection, 0},
		"probe":         {good[:11], known, afdo.ErrTruncated, probeSection, 11},
		"inlined":       {probeBody("main", 1, 1, 1, probeRelative, 0), known, afdo.ErrTruncated, probeSection, 13},
		"many probes":   {probeBody("main", 0x7f, 0, 1, probeRelative, 0), known, afdo.ErrTruncated, probeSection, 13},
		"kind":          {probeBody("main", 1, 0, 1, probeRelative|3, 0), known, errProbe, probeSection, 11},
		"number":        {probeBody("main", 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1, probeRelative, 0), known, errProbe, probeSection, 10},
		"long number":   {probeBody("main", 1, 0, bytes.Repeat([]byte{0xff}, 20)...), known, afdo.ErrVarint, probeSection, 10},
		"not described": {good, description("other"), errProbe, probeDescSection, int64(len(description("other")))},
		"description":   {good, known[:len(known)-1], afdo.ErrTruncated, probeDescSection, 17},
	} {
		t.Run(name, func(t *testing.T) {
			f, wanted := probeFile(c.probes, c.descriptions)
			_, err := f.Probes(wanted)
			require.ErrorIs(t, err, c.class)
			require.ErrorIs(t, err, afdo.ErrMalformed)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, []string{c.part, strconv.FormatInt(c.offset, 10)}, []string{fault.Part, strconv.FormatInt(fault.Offset, 10)})
		})
	}
}

// FuzzProbes decodes random sections. Each probe must be in the requested function and have a name,
// and there must be at most one probe for three bytes.
func FuzzProbes(f *testing.F) {
	f.Add(probeBody("main", 1, 0, 1, probeRelative, 0), description("main"))
	f.Add(slices.Concat(probeBody("main", 1, 1, 1, probeRelative, 0), []byte{2}, probeBody("f", 1, 0, 1, probeRelative|probeDiscriminated, 4, 3)), slices.Concat(description("main"), description("f")))
	f.Fuzz(func(t *testing.T, sections, descriptions []byte) {
		file, wanted := probeFile(sections, descriptions)
		probes, err := file.Probes(wanted)
		if err != nil {
			require.Empty(t, probes)
			return
		}
		require.LessOrEqual(t, 3*len(probes), len(sections))
		for _, p := range probes {
			require.True(t, p.Address >= wanted[0].Low && p.Address < wanted[0].High)
			for b := p.Body; b != nil; b = b.Caller {
				require.NotEmpty(t, b.Function.Name)
			}
		}
	})
}
