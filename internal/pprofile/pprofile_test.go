package pprofile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// convert writes a profile and reads it with pprof's own package.
func convert(t *testing.T, p *profile.Profile, o Options) *pprof.Profile {
	t.Helper()
	var out bytes.Buffer
	_, err := Write(&out, p, o)
	require.NoError(t, err)
	read, err := pprof.Parse(&out)
	require.NoError(t, err)
	require.NoError(t, read.CheckValid())
	return read
}

// stacks returns the samples of each stack, leaf first.
func stacks(p *pprof.Profile) map[string]uint64 {
	found := map[string]uint64{}
	for _, s := range p.Sample {
		var stack strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				fmt.Fprintf(&stack, "%q %q %d\n", line.Function.Filename, line.Function.SystemName, line.Line)
			}
		}
		found[stack.String()] += uint64(s.Value[0])
	}
	return found
}

// slowStacks returns the same as stacks, computed by recursion over maps.
func slowStacks(p *naive.Profile) map[string]uint64 {
	found := map[string]uint64{}
	for k, f := range p.Functions {
		addSlow(found, f.Body, k, "")
	}
	return found
}

func addSlow(found map[string]uint64, b *naive.Body, k naive.Key, outer string) {
	frame := func(at naive.Place) string {
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		return fmt.Sprintf("%q %q %d\n", valid(k.Path), valid(k.Name), at.Line) + outer
	}
	for at, n := range b.Counts {
		if n > 0 {
			found[frame(at)] += n
		}
	}
	for at, inlined := range b.Inlined {
		for callee, nested := range inlined {
			addSlow(found, nested, callee, frame(at))
		}
	}
}

func TestRandom(t *testing.T) {
	refused, deepest := 0, 0
	for seed := range uint64(200) {
		o := gen.All()
		o.LongNames = false
		data, truth := gen.Random(rand.New(rand.NewPCG(seed, 3)), o)
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		p, err := profile.Read(r)
		require.NoError(t, err)
		canonical, err := truth.Canonical()
		require.NoError(t, err)
		if p.Summarize().TotalCount > math.MaxInt64 {
			refused++
			var out bytes.Buffer
			_, err := Write(&out, p, Options{})
			require.ErrorIs(t, err, ErrTooLarge)
			require.Zero(t, out.Len())
			continue
		}
		got := convert(t, p, Options{})
		require.Equal(t, slowStacks(canonical), stacks(got))
		for _, s := range got.Sample {
			deepest = max(deepest, len(s.Location))
		}
	}
	assert.NotZero(t, refused)
	assert.Less(t, refused, 150)
	assert.Greater(t, deepest, 4)
}

// corpus returns a profile from the corpus of real profiles, and its path. It skips the test if the
// corpus is missing.
func corpus(t *testing.T, name string) (*profile.Profile, string) {
	t.Helper()
	path := testenv.Corpus(t, name)
	p, err := gcov.ParseBytes(testenv.CorpusData(t, name))
	require.NoError(t, err)
	return p, path
}

func TestCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	for _, name := range []string{"libgui.v3", "keystore2.v3"} {
		p, path := corpus(t, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		truth, err := naive.DecodeV3(data)
		require.NoError(t, err)
		canonical, err := truth.Canonical()
		require.NoError(t, err)
		assert.Equal(t, slowStacks(canonical), stacks(convert(t, p, Options{})))
	}
}

// inlining returns a profile with a function of a.c into which a function of b.c is inlined.
func inlining() *profile.Profile {
	p := profile.New()
	outer := p.AddSymbol(p.AddUnit("a.c"), "_Z5outerv")
	inner := p.AddSymbol(p.AddUnit("b.c"), "_Z5innerv")
	var body profile.Body
	body.Count(0, 0, 1)
	body.Count(3, 0, 10)
	body.Count(3, 7, 100)
	body.Count(4, 0, 0)
	body.Call(5, 0, inner, 1000)
	body.Enter(6, 2, inner)
	body.Count(1, 0, 10000)
	body.Leave()
	p.AddFunction(outer, profile.Function{HeadCount: 9, Records: body.Records()})
	return p
}

func TestWhatIsWritten(t *testing.T) {
	p := convert(t, inlining(), Options{
		Source:   "some.afdo",
		Comments: []string{"hello"},
		Name:     func(name string) string { return strings.ToUpper(name) },
	})
	assert.Equal(t, []*pprof.ValueType{{Type: "samples", Unit: "count"}}, p.SampleType)
	assert.Equal(t, "samples", p.DefaultSampleType)
	assert.Equal(t, map[string]uint64{
		"\"a.c\" \"_Z5outerv\" 0\n":                          1,
		"\"a.c\" \"_Z5outerv\" 3\n":                          110,
		"\"b.c\" \"_Z5innerv\" 1\n\"a.c\" \"_Z5outerv\" 6\n": 10000,
	}, stacks(p))
	assert.Len(t, p.Function, 2)
	for _, f := range p.Function {
		assert.Equal(t, strings.ToUpper(f.SystemName), f.Name)
		assert.Zero(t, f.StartLine)
	}
	require.Len(t, p.Mapping, 1)
	assert.Equal(t, "some.afdo", p.Mapping[0].File)
	assert.Equal(t, []string{
		"hello",
		"Frames above others are functions inlined in them, not called by them.",
		"Line numbers are offsets from the line of the function's declaration.",
		"Discriminators, call targets and counts of 0 are left out.",
	}, p.Comments)
}

func TestSameBytes(t *testing.T) {
	write := func() []byte {
		var out bytes.Buffer
		_, err := Write(&out, inlining(), Options{})
		require.NoError(t, err)
		return out.Bytes()
	}
	assert.Equal(t, write(), write())
}

// nested returns a profile with a function that is inlined into itself as often as depth says, with
// a count in each body.
func nested(depth int) *profile.Profile {
	p := profile.New()
	f := p.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	body.Count(0, 0, 1)
	for range depth {
		body.Enter(1, 0, f)
		body.Count(0, 0, 1)
	}
	for range depth {
		body.Leave()
	}
	p.AddFunction(f, profile.Function{Records: body.Records()})
	return p
}

func TestDeepNestingIsFolded(t *testing.T) {
	for _, test := range []struct{ depth, samples, folded int }{
		{MaxDepth - 1, MaxDepth, 0}, // the function itself is the first of the stack
		{MaxDepth, MaxDepth + 1, 1},
		{100_000, MaxDepth + 1, 100_001 - MaxDepth},
	} {
		var out bytes.Buffer
		folded, err := Write(&out, nested(test.depth), Options{})
		require.NoError(t, err)
		assert.Equal(t, uint64(test.folded), folded)
		assert.Less(t, out.Len(), 10_000)
		p, err := pprof.Parse(&out)
		require.NoError(t, err)
		require.NoError(t, p.CheckValid())
		require.Len(t, p.Sample, test.samples)
		total := 0
		for _, s := range p.Sample {
			total += int(s.Value[0])
		}
		assert.Equal(t, test.depth+1, total)
		if test.folded == 0 {
			continue
		}
		last := p.Sample[len(p.Sample)-1]
		assert.Equal(t, int64(test.folded), last.Value[0])
		require.Len(t, last.Location, MaxDepth+1)
		assert.Equal(t, Folded, last.Location[0].Line[0].Function.Name)
		for _, l := range last.Location[1:] {
			assert.Equal(t, "f", l.Line[0].Function.Name)
			assert.Equal(t, int64(1), l.Line[0].Line)
		}
		assert.Contains(t, p.Comments[len(p.Comments)-1], fmt.Sprintf("%d counts nested more than %d deep", test.folded, MaxDepth))
	}
}

// TestFoldingEndsWithTheBody converts a body that is nested too deeply, with counts before and
// after it in the enclosing body. These counts must not be folded.
func TestFoldingEndsWithTheBody(t *testing.T) {
	p := profile.New()
	f := p.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	for range MaxDepth - 1 {
		body.Enter(1, 0, f)
	}
	for line := range uint32(2) {
		body.Enter(line, 0, f)
		body.Count(5, 0, 10)
		body.Count(6, 0, 20)
		body.Leave()
		body.Count(line, 1, 3)
	}
	for range MaxDepth - 1 {
		body.Leave()
	}
	body.Count(9, 0, 4)
	p.AddFunction(f, profile.Function{Records: body.Records()})
	var values []int64
	var leaves []string
	for _, s := range convert(t, p, Options{}).Sample {
		values = append(values, s.Value[0])
		leaves = append(leaves, s.Location[0].Line[0].Function.Name)
	}
	assert.Equal(t, []int64{30, 3, 30, 3, 4}, values)
	assert.Equal(t, []string{Folded, "f", Folded, "f", "f"}, leaves)
}

func TestTooLarge(t *testing.T) {
	p := profile.New()
	for _, name := range []string{"f", "g"} {
		var body profile.Body
		body.Count(1, 0, 1<<62)
		p.AddFunction(p.AddSymbol(profile.UnknownUnit, name), profile.Function{Records: body.Records()})
	}
	var out bytes.Buffer
	_, err := Write(&out, p, Options{})
	require.ErrorIs(t, err, ErrTooLarge)
	assert.Zero(t, out.Len())
}

func TestEmpty(t *testing.T) {
	p := convert(t, profile.New(), Options{})
	assert.Empty(t, p.Sample)
}

type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (b *brokenWriter) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, errBroken
	}
	return len(data), nil
}

func TestErrorsOfTheWriter(t *testing.T) {
	p := inlining()
	var out bytes.Buffer
	_, err := Write(&out, p, Options{})
	require.NoError(t, err)
	for left := range out.Len() {
		_, err := Write(&brokenWriter{left}, p, Options{})
		require.ErrorIs(t, err, errBroken, "%d bytes", left)
	}
}
