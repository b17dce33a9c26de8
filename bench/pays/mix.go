package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/profile"
)

// mixes are profiles with some facts of a sampled profile and some of the exact profile of the
// same binary. They show which facts a compiler reacts to. Exact counts are scaled to the sum of
// the sampled ones.
var mixes = map[string]func(m *mixing, at string, sampled uint64) float64{
	// Sampled, with at least 1 at places that ran.
	"zeros": func(m *mixing, at string, sampled uint64) float64 {
		if sampled == 0 && m.counts[at] > 0 {
			return 1
		}
		return float64(sampled)
	},
	// The share of each function as sampled, the distribution in it exact.
	"shape": func(m *mixing, at string, _ uint64) float64 {
		f := function(at)
		return float64(m.counts[at]) * m.sampled[f] / max(1, m.exact[f])
	},
	// The share of each function exact, the distribution in it as sampled.
	"functions": func(m *mixing, at string, sampled uint64) float64 {
		f := function(at)
		return float64(sampled) * m.scale * m.exact[f] / max(1, m.sampled[f])
	},
	// Sampled, with the exact head counts.
	"heads": func(_ *mixing, _ string, sampled uint64) float64 { return float64(sampled) },
	// All exact; what ran has at least 1.
	"scaled": func(m *mixing, at string, _ uint64) float64 { return float64(m.counts[at]) * m.scale },
	// All exact; what ran too rarely for a sample has 0.
	"rounded": func(m *mixing, at string, _ uint64) float64 { return math.Round(float64(m.counts[at]) * m.scale) },
}

// A mixing has the counts of an exact profile by place, and sums by function.
type mixing struct {
	counts         map[string]uint64 // by place; places in inlined bodies too
	heads          map[string]uint64
	exact, sampled map[string]float64
	scale          float64
}

// function returns the function of a place.
func function(at string) string {
	name, _, _ := strings.Cut(at, " ")
	return name
}

// eachPlace calls do for each count of a profile with its place.
func eachPlace(p *profile.Profile, do func(at string, n uint64)) {
	for s, f := range p.Functions() {
		path := []string{p.UnitPath(p.SymbolUnit(s)) + ":" + p.SymbolName(s)}
		records := profile.Walk(f.Records)
		for r, depth, ok := records.Next(); ok; r, depth, ok = records.Next() {
			path = path[:depth+1]
			at := fmt.Sprintf("%s %d.%d", path[depth], r.Line, r.Discriminator)
			switch r.Kind {
			case profile.KindCount:
				do(at, r.Count)
			case profile.KindInlined:
				path = append(path, at+":"+p.SymbolName(r.Callee))
			}
		}
	}
}

// mix writes a mixture of a sampled and an exact profile of one binary, both of version 2. A
// mixture whose counts are all exact has the functions of the exact profile. Any other mixture has
// the functions of the sampled profile.
func mix(what, sampledPath, exactPath, to string) error {
	rule, ok := mixes[what]
	if !ok {
		return fmt.Errorf("%q is no mixture", what)
	}
	sampled, err := readProfile(sampledPath)
	if err != nil {
		return err
	}
	exact, err := readProfile(exactPath)
	if err != nil {
		return err
	}
	m := &mixing{counts: make(map[string]uint64), heads: make(map[string]uint64), exact: make(map[string]float64), sampled: make(map[string]float64)}
	all, allSampled := 0.0, 0.0
	eachPlace(exact, func(at string, n uint64) {
		m.counts[at] += n
		m.exact[function(at)] += float64(n)
		all += float64(n)
	})
	eachPlace(sampled, func(at string, n uint64) {
		m.sampled[function(at)] += float64(n)
		allSampled += float64(n)
	})
	m.scale = allSampled / all
	for s, f := range exact.Functions() {
		m.heads[exact.UnitPath(exact.SymbolUnit(s))+":"+exact.SymbolName(s)] = f.HeadCount
	}
	base := sampled
	if what == "scaled" || what == "rounded" {
		base = exact
	}
	return m.write(base, what, rule, to)
}

func readProfile(path string) (*profile.Profile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return gcov.ParseBytes(data)
}

// write writes a profile with the records of base and the counts of a mixture. Counts that are not
// 0 are at least 1.
func (m *mixing) write(base *profile.Profile, what string, rule func(*mixing, string, uint64) float64, to string) error {
	var counts []uint64
	eachPlace(base, func(at string, n uint64) { counts = append(counts, uint64(math.Ceil(rule(m, at, n)))) })
	mixed := profile.New()
	for i := range base.NumSymbols() { // the references of records stay valid
		s := profile.SymbolRef(i)
		mixed.AddSymbol(mixed.AddUnit(base.UnitPath(base.SymbolUnit(s))), base.SymbolName(s))
	}
	for s, f := range base.Functions() {
		name := base.UnitPath(base.SymbolUnit(s)) + ":" + base.SymbolName(s)
		g := profile.Function{HeadCount: f.HeadCount, Records: slices.Clone(f.Records)}
		exact := what == "scaled" || what == "rounded"
		switch {
		case exact || what == "heads":
			g.HeadCount = uint64(math.Ceil(float64(m.heads[name]) * m.scale))
		case what == "shape":
			g.HeadCount = uint64(math.Ceil(float64(m.heads[name]) * m.sampled[name] / max(1, m.exact[name])))
		}
		for i := range g.Records {
			switch r := &g.Records[i]; {
			case r.Kind == profile.KindCount:
				r.Count, counts = counts[0], counts[1:]
			case r.Kind == profile.KindCall && exact:
				r.Count = uint64(math.Ceil(float64(r.Count) * m.scale))
			}
		}
		mixed.AddFunction(s, g)
	}
	var out bytes.Buffer
	if _, err := gcov.Write(&out, mixed, gcov.WriteOptions{Version: 2}); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o666)
}

// means writes a recording without branches in which all instructions of a block have the mean of
// the block. Consecutive instructions that ran equally often by callgrind's counts are a block.
// Samples count 16, so that means are not rounded to 0.
func means(binary, counts, from, to string) error {
	set, err := readSamples(from)
	if err != nil {
		return err
	}
	return withFlow(binary, counts, func(f *flow) error { return writeSamples(f.average(set), to) })
}

// meanScale is the number of counts for one sample in a recording of means.
const meanScale = 16

// average spreads the samples of each block evenly over its instructions.
func (f *flow) average(set *samples.Set) *samples.Set {
	sampled := make(map[uint64]uint64)
	for at, n := range set.Addresses() {
		sampled[at] = n
	}
	averaged := new(samples.Set)
	order := slices.Sorted(maps.Keys(f.counts))
	for len(order) > 0 {
		size := 1
		sum := sampled[order[0]]
		for size < len(order) && f.continues(order[size-1], order[size]) {
			sum += sampled[order[size]]
			size++
		}
		for _, at := range order[:size] {
			if sum > 0 {
				averaged.AddAddress(at, (sum*meanScale+uint64(size)-1)/uint64(size))
			}
		}
		order = order[size:]
	}
	return averaged
}

// continues reports whether an instruction is in the same block as the one before it.
func (f *flow) continues(before, at uint64) bool {
	return f.counts[before] == f.counts[at] && at-before <= 15 && !f.ends[before] && len(f.taken[before]) == 0
}

// draw writes n randomly chosen samples of a recording without branches, as if the recording had
// been shorter. The same seed chooses the same samples.
func draw(n, seed uint64, from, to string) error {
	set, err := readSamples(from)
	if err != nil {
		return err
	}
	var sampled []uint64 // file offset of each sample
	for offset, count := range set.Addresses() {
		sampled = append(sampled, slices.Repeat([]uint64{offset}, int(count))...)
	}
	if n > uint64(len(sampled)) {
		return fmt.Errorf("%s has %d samples, not %d", from, len(sampled), n)
	}
	random := rand.New(rand.NewPCG(seed, n))
	random.Shuffle(len(sampled), func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	drawn := new(samples.Set)
	for _, offset := range sampled[:n] {
		drawn.AddAddress(offset, 1)
	}
	return writeSamples(drawn, to)
}
