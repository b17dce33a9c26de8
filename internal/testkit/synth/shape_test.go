package synth

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/ianlancetaylor/demangle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// figures are statistics of a profile, as shares from 0 to 1 unless noted otherwise.
type figures struct {
	largest    float64 // of all symbols, those of the unit with most
	largeFour  float64 // of all symbols, those of the four units with most
	headers    float64 // of all inlined bodies, those of the four units with most
	elsewhere  float64 // of all inlined bodies, those of other units than their function's
	inlined    float64 // of all records, inlined bodies
	deep       float64 // of all functions, those that inline five deep or deeper
	records    float64 // a function, in the mean
	nameBytes  float64 // a symbol, in the mean
	sharedName float64 // of all symbols, those of the most frequent unqualified name
	medianUnit int     // symbols of the unit in the middle
}

func figuresOf(p *profile.Profile) figures {
	of := func(part, whole int) float64 { return float64(part) / float64(whole) }
	symbols := make([]int, p.NumUnits())
	unqualified := make(map[string]int)
	bytes := 0
	for i := range p.NumSymbols() {
		s := profile.SymbolRef(i)
		symbols[p.SymbolUnit(s)]++
		bytes += len(p.SymbolName(s))
		unqualified[lastPart(p.SymbolName(s))]++
	}
	records, inlined, elsewhere, deep := 0, 0, 0, 0
	bodies := make([]int, p.NumUnits())
	for s, f := range p.Functions() {
		deepest := 0
		for w := profile.Walk(f.Records); ; {
			r, depth, ok := w.Next()
			if !ok {
				break
			}
			records++
			deepest = max(deepest, depth)
			if r.Kind == profile.KindInlined {
				inlined++
				bodies[p.SymbolUnit(r.Callee)]++
				if p.SymbolUnit(r.Callee) != p.SymbolUnit(s) {
					elsewhere++
				}
			}
		}
		if deepest >= 5 {
			deep++
		}
	}
	descending := func(a, b int) int { return cmp.Compare(b, a) }
	slices.SortFunc(symbols, descending)
	slices.SortFunc(bodies, descending)
	mostShared := 0
	for _, n := range unqualified {
		mostShared = max(mostShared, n)
	}
	firstFour := func(n []int) int { return n[0] + n[1] + n[2] + n[3] }
	return figures{
		largest:    of(symbols[0], p.NumSymbols()),
		largeFour:  of(firstFour(symbols), p.NumSymbols()),
		headers:    of(firstFour(bodies), inlined),
		elsewhere:  of(elsewhere, inlined),
		inlined:    of(inlined, records),
		deep:       of(deep, p.NumFunctions()),
		records:    of(records, p.NumFunctions()),
		nameBytes:  of(bytes, p.NumSymbols()),
		sharedName: of(mostShared, p.NumSymbols()),
		medianUnit: symbols[len(symbols)/2],
	}
}

// lastPart demangles a name and returns its last component.
func lastPart(name string) string {
	plain, err := demangle.ToString(name, demangle.NoParams, demangle.NoTemplateParams)
	if err != nil {
		return name
	}
	if i := strings.LastIndex(plain, "::"); i >= 0 {
		plain = plain[i+2:]
	}
	return plain
}

// testHeaders checks that the statistics of a profile lie in the range of those of the real
// profiles in the corpus.
func testHeaders(t *testing.T, p *profile.Profile) {
	f := figuresOf(p)
	between(t, 0.30, f.largest, 0.62, "symbols of the largest unit")
	between(t, 0.55, f.largeFour, 0.90, "symbols of the four largest units")
	between(t, 0.55, f.headers, 0.97, "inlined bodies of four units")
	between(t, 0.70, f.elsewhere, 0.99, "inlined bodies of other units")
	between(t, 0.28, f.inlined, 0.65, "inlined bodies of all records")
	between(t, 0.25, f.deep, 0.99, "functions that inline five deep")
	between(t, 50, f.records, 280, "records a function")
	between(t, 70, f.nameBytes, 175, "bytes a name")
	between(t, 0.01, f.sharedName, 0.06, "symbols of one unqualified name")
	between(t, 1, f.medianUnit, 5, "symbols of the median unit")
}

func TestHeaders(t *testing.T) {
	testHeaders(t, Profile(SmallHeaders))
	t.Run("android", func(t *testing.T) {
		testenv.NeedSweep(t)
		testHeaders(t, Profile(Android))
	})
}

// TestCorpusHeaders checks that the statistics of the real profiles lie in the range that
// testHeaders requires.
func TestCorpusHeaders(t *testing.T) {
	for _, name := range []string{"libgui.v3", "libart_arm.v3"} {
		data, err := os.ReadFile(testenv.Corpus(t, name))
		require.NoError(t, err)
		p, err := gcov.ParseBytes(data)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { testHeaders(t, p) })
	}
}

// TestSameHeaders checks that the generated profile of shape Headers is the same on every machine
// and in every version.
func TestSameHeaders(t *testing.T) {
	want := uint64(0xad66a2a3c7e62ce0)
	assert.Equal(t, want, xxhash.Sum64(version3(t, New(SmallHeaders))))
}

// TestKnobs checks that each field of Shape has the effect on the profile that its comment
// describes.
func TestKnobs(t *testing.T) {
	plain := Options{Seed: 2, Units: 200, Functions: 1_000}
	with := func(s Shape) *profile.Profile {
		o := plain
		o.Shape = s
		return New(o)
	}
	before := figuresOf(New(plain))
	assert.Greater(t, figuresOf(with(Shape{HeaderSymbols: 600})).largest, before.largest+0.2)
	assert.Greater(t, figuresOf(with(Shape{HeaderSymbols: 600, HeaderInlining: 900})).headers, 0.8)
	assert.Greater(t, figuresOf(with(Shape{Inlining: 400})).inlined, before.inlined+0.1)
	assert.Greater(t, figuresOf(with(Shape{Size: 4})).records, 3*before.records)
	assert.Greater(t, figuresOf(with(Shape{Long: 500})).records, 3*before.records)
	assert.Greater(t, figuresOf(with(Shape{Functors: 300})).sharedName, 0.2)
	assert.Greater(t, figuresOf(with(Shape{Lambdas: 300})).sharedName, 0.2)
	assert.Greater(t, figuresOf(with(Shape{Templates: 900})).nameBytes, before.nameBytes+20)

	unknown, clones, widest := 0, 0, 0
	p := with(Shape{UnknownFile: 300})
	for s := range profile.SymbolRef(p.NumSymbols()) {
		if p.SymbolUnit(s) == profile.UnknownUnit {
			unknown++
		}
	}
	assert.Greater(t, unknown, 100)
	p = with(Shape{Clones: 300})
	for s := range profile.SymbolRef(p.NumSymbols()) {
		if strings.Contains(p.SymbolName(s), ".") {
			clones++
		}
	}
	assert.Greater(t, clones, 100)
	p = with(Shape{IndirectTargets: 40})
	for _, f := range p.Functions() {
		targets := make(map[[3]uint32]int)
		for w := profile.Walk(f.Records); ; {
			r, depth, ok := w.Next()
			if !ok {
				break
			}
			if r.Kind == profile.KindCall {
				at := [3]uint32{uint32(depth), r.Line, r.Discriminator}
				targets[at]++
				widest = max(widest, targets[at])
			}
		}
	}
	assert.Greater(t, widest, 20)
}
