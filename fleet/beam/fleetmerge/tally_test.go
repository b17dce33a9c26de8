package fleetmerge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-afdo/afdo/profile"
)

// functionsOf returns a profile of n functions with random counts.
func functionsOf(rng *rand.Rand, n int) *profile.Profile {
	p := profile.New()
	for i := range n {
		var b profile.Body
		for line := range rng.Uint32N(10) {
			b.Count(line, 0, rng.Uint64()>>rng.UintN(64))
		}
		unit := p.AddUnit(fmt.Sprintf("%d.c", rng.IntN(4)))
		p.AddFunction(p.AddSymbol(unit, fmt.Sprint("f", i)), profile.Function{HeadCount: rng.Uint64N(100), Records: b.Records()})
	}
	return p
}

// The tallies of a profile's units, merged in any order, give the same summary as the whole
// profile.
func TestTallyIsSummarize(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	for range 100 {
		p := functionsOf(rng, rng.IntN(30))
		tallies := make([]tally, 1+rng.IntN(4))
		for _, part := range p.Split() {
			tallies[rng.IntN(len(tallies))].add(part)
		}
		var all tally
		for i := range tallies {
			var sent tally
			if err := sent.decode(tallies[i].encode()); err != nil {
				t.Fatal(err)
			}
			all.merge(&sent)
		}
		for range 2 {
			if got, want := all.summarize(), p.Summarize(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, not %v", got, want)
			}
		}
	}
}

func TestTallyMemory(t *testing.T) {
	var all tally
	p := profile.New()
	var b profile.Body
	for line := range uint32(5000) {
		b.Count(line, 0, uint64(line%7))
	}
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, "f"), profile.Function{Records: b.Records()})
	for range 20 {
		all.add(p)
	}
	if len(all.counts) != 6 {
		t.Errorf("%d counts are kept", len(all.counts))
	}
}

func TestTallyThatIsNone(t *testing.T) {
	for _, data := range []string{"", "\x01\x02\x03\x04", "\x01\x02\x03\x04\xff", "\x01\x02\x03\x04\x05\x01", "\x01\x02\x03\x04\x05\x00\x01", "\x01\x02\x03\x04\x05\x01\x00", "\x01\x02\x03\x04\x05\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"} {
		if new(tally).decode([]byte(data)) == nil {
			t.Errorf("%q is a tally", data)
		}
	}
}

// Keeping the hottest functions keeps the same ones for the units of a profile as for the whole
// profile.
func TestLeastHot(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	for range 200 {
		p := functionsOf(rng, rng.IntN(30))
		share := profile.Ratio{Num: 1 + rng.Uint64N(100), Den: 100}
		var heats []uint64
		for _, f := range p.Functions() {
			heats = append(heats, heatOf(f))
		}
		least := leastHot(heats, share)
		got, _ := p.KeepFunctions(func(s profile.SymbolRef) bool { return heatOf(p.Function(s)) >= least })
		if want, _ := p.KeepHottest(share); profile.Compare(want, got) != nil {
			t.Fatalf("%v of %d functions: %d, not %d", share, p.NumFunctions(), got.NumFunctions(), want.NumFunctions())
		}
	}
}
