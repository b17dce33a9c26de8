package synth

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/ianlancetaylor/demangle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// version3 encodes a profile as version 3, and fails if the format cannot store all of it.
func version3(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var file bytes.Buffer
	losses, err := gcov.Write(&file, p, gcov.WriteOptions{Version: 3})
	require.NoError(t, err)
	require.Zero(t, losses)
	return file.Bytes()
}

// TestSame checks that the generated profile is the same on every machine and in every version, so
// that figures measured on it can be compared.
func TestSame(t *testing.T) {
	want := uint64(0x55bea5800b0cb492)
	assert.Equal(t, want, xxhash.Sum64(version3(t, New(Small))))

	other := Small
	other.Seed++
	assert.NotEqual(t, want, xxhash.Sum64(version3(t, New(other))))
}

func TestProfileIsShared(t *testing.T) {
	var all [4]*profile.Profile
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = Profile(Small) })
	}
	wg.Wait()
	for _, p := range all {
		assert.Same(t, all[0], p)
	}
	assert.NotSame(t, all[0], New(Small))
	assert.NoError(t, profile.Compare(all[0], New(Small)))
}

// between checks that a statistic lies in a range, which is that of real profiles.
func between[T int | float64](t *testing.T, low, figure, high T, what string) {
	t.Helper()
	assert.GreaterOrEqual(t, figure, low, what)
	assert.LessOrEqual(t, figure, high, what)
}

func TestShape(t *testing.T) {
	const mega = 1_000_000
	for _, test := range []struct {
		name     string
		options  Options
		megaByte float64 // of version 3
	}{{"small", Small, 1}, {"medium", Medium, 10}, {"bootstrap", Bootstrap, 57.5}} {
		t.Run(test.name, func(t *testing.T) {
			if test.options != Small {
				testenv.NeedSweep(t)
			}
			p := Profile(test.options)
			size := float64(len(version3(t, p)))
			between(t, 0.98*test.megaByte, size/mega, 1.02*test.megaByte, "MB in version 3")
			assert.Equal(t, test.options.Functions, p.NumFunctions())
			assert.Equal(t, test.options.Units+1, p.NumUnits())
			t.Run("names", func(t *testing.T) { testNames(t, p) })
			t.Run("units", func(t *testing.T) { testUnits(t, p) })
			t.Run("records", func(t *testing.T) { testRecords(t, p) })
		})
	}
}

func testNames(t *testing.T, p *profile.Profile) {
	bytes, mangled, shared := 0, 0, 0
	names := make([]string, p.NumSymbols())
	for i := range names {
		names[i] = p.SymbolName(profile.SymbolRef(i))
		bytes += len(names[i])
		if strings.HasPrefix(names[i], "_Z") {
			mangled++
			if i%16 == 0 {
				_, err := demangle.ToString(names[i])
				require.NoError(t, err, names[i])
			}
		}
	}
	n := float64(len(names))
	between(t, 47, float64(bytes)/n, 52, "bytes a name")
	between(t, 0.94, float64(mangled)/n, 0.98, "share of mangled names")

	// What a trie saves: the bytes that a name has in common with the one before it.
	slices.Sort(names)
	for i := range names[1:] {
		a, b := names[i], names[i+1]
		for a != "" && b != "" && a[0] == b[0] {
			a, b, shared = a[1:], b[1:], shared+1
		}
	}
	between(t, 0.3, float64(shared)/float64(bytes), 0.5, "share of common prefixes")
	assert.Len(t, slices.Compact(names), p.NumSymbols(), "a name is a duplicate")
}

func testUnits(t *testing.T, p *profile.Profile) {
	sampled := make([]int, p.NumUnits())
	for s := range p.Functions() {
		sampled[p.SymbolUnit(s)]++
	}
	assert.Zero(t, sampled[profile.UnknownUnit])
	sampled = sampled[1:]
	slices.Sort(sampled)
	mean := p.NumFunctions() / len(sampled)
	between(t, mean/5, sampled[len(sampled)/2], mean/2, "functions of the median unit")
	between(t, 10*mean, sampled[len(sampled)-1], 40*mean, "functions of the largest unit")
	between(t, 2.5, float64(p.NumFunctions())/float64(len(sampled)*sampled[len(sampled)/2]), 5, "mean by median")
}

func testRecords(t *testing.T, p *profile.Profile) {
	var all, counts, zeros, wide, inlined, elsewhere, calls, discriminators int
	var depths [deepDepth + 1]int // of functions, by their deepest record
	longest := 0
	for s, f := range p.Functions() {
		deepest := 0
		for w := profile.Walk(f.Records); ; {
			r, depth, ok := w.Next()
			if !ok {
				break
			}
			all++
			deepest = max(deepest, depth)
			if r.Discriminator > 0 {
				discriminators++
			}
			switch r.Kind {
			case profile.KindCount:
				counts++
				if r.Count == 0 {
					zeros++
				}
				if r.Count >= 1<<32 {
					wide++
				}
			case profile.KindCall:
				calls++
			case profile.KindInlined:
				inlined++
				if p.SymbolUnit(r.Callee) != p.SymbolUnit(s) {
					elsewhere++
				}
			}
		}
		depths[deepest]++
		longest = max(longest, len(f.Records))
	}
	of := func(part, whole int) float64 { return float64(part) / float64(whole) }
	functions := p.NumFunctions()
	between(t, 18.5, of(all, functions), 19.5, "records a function")
	between(t, 120, longest, 400, "records of the longest function")
	between(t, 0.4, of(zeros, counts), 0.5, "share of zeros")
	between(t, 0.2, of(discriminators, all), 0.3, "share of records with discriminators")
	between(t, 0.03, of(calls, all), 0.05, "share of call targets")
	between(t, 0.09, of(inlined, all), 0.12, "share of inlined functions")
	between(t, 0.4, of(elsewhere, inlined), 0.8, "share of those that are of other units")
	between(t, 0.3, of(depths[0], functions), 0.4, "share of functions without inlining")
	between(t, 0.97, of(depths[0]+depths[1]+depths[2]+depths[3], functions), 0.995, "share of functions that inline up to 3 deep")
	deep := functions
	for _, n := range depths[:usualDepth+1] {
		deep -= n
	}
	between(t, 0.0008, of(deep, functions), 0.004, "share of functions that inline deeper than usual")
	assert.NotEqual(t, p.NumFunctions() > Small.Functions, wide == 0, "counts of more than 32 bits")
}
