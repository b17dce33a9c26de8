package sampleprof

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

var one = profile.Ratio{Num: 1, Den: 1}

// llvmVersion is the version of the LLVM tools that the tests run.
const llvmVersion = "22"

// llvmTool returns the path of an LLVM tool of version llvmVersion.
func llvmTool(t testing.TB, name string) string {
	t.Helper()
	return testenv.Tool(t, name+"-"+llvmVersion, "/usr/lib/llvm-"+llvmVersion+"/bin/"+name)
}

// An llvm runs llvm-profdata on files in a temporary directory. It runs the tool once for each
// combination of arguments and inputs.
type llvm struct {
	t     testing.TB
	tool  string
	dir   string
	n     int
	known map[string][]byte // what it has merged, by options and inputs
}

func newLLVM(t testing.TB) *llvm {
	if testing.Short() {
		t.Skip("LLVM's tools take their time, and are the same however the test is built")
	}
	return &llvm{t: t, tool: llvmTool(t, "llvm-profdata"), dir: t.TempDir(), known: map[string][]byte{}}
}

func (l *llvm) file(data []byte) string {
	l.n++
	path := filepath.Join(l.dir, fmt.Sprint(l.n))
	require.NoError(l.t, os.WriteFile(path, data, 0o666))
	return path
}

// merge returns the output of `llvm-profdata merge --sample` with the given options and input
// files.
func (l *llvm) merge(options []string, inputs ...[]byte) []byte {
	l.t.Helper()
	question := fmt.Sprintf("%q %q", options, inputs)
	if out, ok := l.known[question]; ok {
		return out
	}
	out, said, err := l.tryMerge(options, inputs...)
	require.NoError(l.t, err, "%s\n%.4000s", said, bytes.Join(inputs, nil))
	l.known[question] = out
	return out
}

func (l *llvm) tryMerge(options []string, inputs ...[]byte) (out []byte, said string, err error) {
	args := append([]string{"merge", "--sample"}, options...)
	for _, in := range inputs {
		args = append(args, l.file(in))
	}
	l.n++
	path := filepath.Join(l.dir, fmt.Sprint(l.n))
	report, err := exec.Command(l.tool, append(args, "-o", path)...).CombinedOutput()
	if err != nil {
		return nil, string(report), err
	}
	out, err = os.ReadFile(path)
	return out, string(report), err
}

func (l *llvm) text(input []byte) string {
	l.t.Helper()
	return withoutRepeats(string(l.merge([]string{"--text"}, input)))
}

// withoutRepeats removes the vtables that LLVM writes a second time, after the inlined bodies of a
// location that has a count as well.
func withoutRepeats(text string) string {
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	var kept strings.Builder
	seen := map[string]bool{} // of the bodies that have not ended
	for line := range strings.Lines(text) {
		maps.DeleteFunc(seen, func(s string, _ bool) bool { return depth(s) > depth(line) })
		if !seen[line] {
			kept.WriteString(line)
		}
		seen[line] = strings.Contains(line, ": vtables ")
	}
	return kept.String()
}

// corpusFile returns a file of the corpus of real profiles.
func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, "llvm", name))
	require.NoError(t, err)
	return data
}

var androidProfiles = []string{"lmkd.afdo", "libsqlite.afdo", "keystore2.afdo"}

func parse(t testing.TB, text string) *Profile {
	t.Helper()
	p, err := ParseTextBytes([]byte(text))
	require.NoError(t, err, "%s", text)
	return p
}

func decoded(t testing.TB, data []byte) *Profile {
	t.Helper()
	r, err := OpenBytes(data)
	require.NoError(t, err)
	p, err := Read(r)
	require.NoError(t, err)
	return p
}

func textOf(t testing.TB, p *Profile) string {
	t.Helper()
	var b strings.Builder
	_, err := WriteText(&b, p)
	require.NoError(t, err)
	return b.String()
}

func extBinary(t testing.TB, p *Profile, o WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteExtBinary(&b, p, o))
	return b.Bytes()
}

func binaryOf(t testing.TB, p *Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := WriteBinary(&b, p)
	require.NoError(t, err)
	return b.Bytes()
}

// A shape configures a generator of random profiles: their size, and which kinds of records they
// have.
type shape struct {
	contexts, probes, attributes, vtables, fs, long bool
}

var shapes = map[string]shape{
	"plain":            {},
	"fs":               {fs: true},
	"large numbers":    {long: true},
	"probes":           {probes: true},
	"attributes":       {attributes: true},
	"vtables":          {vtables: true},
	"contexts":         {contexts: true, attributes: true},
	"contexts, probes": {contexts: true, probes: true, attributes: true},
	"all":              {probes: true, attributes: true, vtables: true, fs: true},
}

// A generator makes random profiles of one shape.
type generator struct {
	shape
	rng *rand.Rand
	p   *Profile
}

var someNames = []string{
	"main", "_Z3foov", "_ZN3BarC2Ev", "helper", "a", "b.llvm.123", "_ZL5localv.__uniq.77", "memcpy", "operator new(unsigned long)",
	"_ZNSt6vectorIiSaIiEE9push_backEOi", "x", "y", "zeta",
}

func randomProfile(rng *rand.Rand, s shape) *Profile {
	g := generator{shape: s, rng: rng, p: &Profile{ContextSensitive: s.contexts, Probes: s.probes, FS: s.fs}}
	for range 1 + rng.IntN(7) {
		f := Function{Total: g.number(), HeadCount: g.number(), Name: g.name()}
		if s.contexts {
			f.Context = g.context()
			f.Name = f.Context[len(f.Context)-1].Name
		}
		depth := rng.IntN(4)
		if s.contexts {
			depth = 0
		}
		f.Records = g.body(depth)
		if s.probes && find(f.Records, KindChecksum) == 0 {
			f.Records = append(f.Records, Record{Kind: KindChecksum, Count: 7})
		}
		g.p.AddFunction(f)
	}
	return g.p
}

func (g *generator) name() NameRef {
	return g.p.AddName(Name{Text: someNames[g.rng.IntN(len(someNames))]})
}

func (g *generator) plainName() NameRef {
	return g.p.AddName(Name{Text: someNames[g.rng.IntN(5)]})
}

func (g *generator) context() []Frame {
	var frames []Frame
	for range g.rng.IntN(3) {
		frames = append(frames, Frame{Name: g.plainName(), Line: uint16(g.rng.IntN(3)), Discriminator: g.rng.Uint32N(2)})
	}
	return append(frames, Frame{Name: g.plainName()})
}

func (g *generator) number() uint64 {
	if g.long {
		return g.rng.Uint64() >> (8 + g.rng.UintN(56))
	}
	return g.rng.Uint64N(200)
}

func (g *generator) location(kind Kind) Record {
	r := Record{Kind: kind, Line: uint16(g.rng.IntN(6)), Count: g.number()}
	if g.rng.IntN(8) == 0 {
		r.Line = uint16(g.rng.IntN(1 << 16))
	}
	switch {
	case g.fs:
		r.Discriminator = g.rng.Uint32() >> g.rng.UintN(32)
	case !g.probes:
		r.Discriminator = g.rng.Uint32N(3)
	}
	return r
}

// body returns random records of a function or inlined body, in no particular order. Some have the
// same location.
func (g *generator) body(depth int) []Record {
	var records []Record
	for range g.rng.IntN(6) {
		r := g.location(KindCount)
		records = append(records, r)
		for range max(0, g.rng.IntN(8)-4) {
			target := r
			target.Kind, target.Name, target.Count = KindTarget, g.name(), g.number()
			records = append(records, target)
		}
	}
	for range g.rng.IntN(depth + 1) {
		r := g.location(KindInlined)
		r.Name = g.name()
		inlined := g.body(depth - 1)
		r.Span = uint32(len(inlined))
		records = append(append(records, r), inlined...)
	}
	for range g.rng.IntN(4) {
		if r := g.location(KindVTable); g.vtables {
			r.Name = g.name()
			records = append(records, r)
		}
	}
	if g.probes && g.rng.IntN(3) > 0 {
		records = append(records, Record{Kind: KindChecksum, Count: 7})
	}
	if g.attributes && g.rng.IntN(2) > 0 {
		records = append(records, Record{Kind: KindAttributes, Count: 1 << g.rng.IntN(3)})
	}
	return records
}
