package slice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/slicetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// collectAgain returns what a second recording of the same length might give for the profile p:
// each count is drawn from the Poisson distribution around the count in p.
func collectAgain(p *profile.Profile, seed uint64) *profile.Profile {
	r := rand.New(rand.NewPCG(seed, 7))
	q := profile.New()
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(ref))), p.SymbolName(ref))
	}
	for s, f := range p.Functions() {
		records := append([]profile.Record(nil), f.Records...)
		for i := range records {
			if records[i].Kind != profile.KindInlined {
				records[i].Count = poisson(r, records[i].Count)
			}
		}
		q.AddFunction(s, profile.Function{HeadCount: poisson(r, f.HeadCount), Timestamp: f.Timestamp, Records: records})
	}
	return q
}

// poisson draws a number from the Poisson distribution with the given mean. For large means it
// draws from the normal distribution, which is almost the same.
func poisson(r *rand.Rand, mean uint64) uint64 {
	if mean > 500 {
		return uint64(max(0, math.Round(float64(mean)+math.Sqrt(float64(mean))*r.NormFloat64())))
	}
	n := uint64(0)
	for limit, product := math.Exp(-float64(mean)), r.Float64(); product > limit; product *= r.Float64() {
		n++
	}
	return n
}

// TestNoise counts how many units with samples have the same key after a second recording, for
// several numbers of bits of --quantize. Run it with -v to see the table of docs/guide/slices.md.
func TestNoise(t *testing.T) {
	testenv.NeedSweep(t)
	for _, name := range []string{"keystore2.v3", "libgui.v3", "libart_arm.v3", "synthetic"} {
		t.Run(name, func(t *testing.T) {
			p := synth.Profile(synth.Small)
			if name != "synthetic" {
				p = slicetest.Corpus(t, name)
			}
			a, b := FromProfile(collectAgain(p, 1)), FromProfile(collectAgain(p, 2))
			var sampled []string
			seen := make(map[profile.UnitRef]bool)
			for s := range p.Functions() {
				if f := p.SymbolUnit(s); f != profile.UnknownUnit && !seen[f] {
					seen[f] = true
					sampled = append(sampled, p.UnitPath(f))
				}
			}
			keep := func(bits int) (kept int) {
				for _, unit := range sampled {
					q := Request{Units: []string{unit}, Target: Version2, Bits: bits}
					x, err := a.Fingerprint(q)
					require.NoError(t, err)
					y, err := b.Fingerprint(q)
					require.NoError(t, err)
					if x == y {
						kept++
					}
				}
				return kept
			}
			var row strings.Builder
			exact := keep(0)
			fmt.Fprintf(&row, "%s: %d units with samples; keys kept with all bits %d", name, len(sampled), exact)
			for _, bits := range []int{8, 6, 4, 3, 2, 1} {
				kept := keep(bits)
				fmt.Fprintf(&row, ", %d bits %d", bits, kept)
				assert.GreaterOrEqual(t, kept, exact)
			}
			t.Log(row.String())
		})
	}
}
