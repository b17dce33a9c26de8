package profile

import (
	"cmp"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
)

// The slow and obvious twin of Body: a tree of maps, walked by recursion.

type naiveKey struct {
	line, discriminator uint32
	kind                Kind
	callee              SymbolRef
}

type naiveBody struct {
	counts map[naiveKey]*big.Int
	nested map[naiveKey]*naiveBody
}

func newNaiveBody() *naiveBody {
	return &naiveBody{counts: map[naiveKey]*big.Int{}, nested: map[naiveKey]*naiveBody{}}
}

func (n *naiveBody) add(k naiveKey, count uint64) {
	if n.counts[k] == nil {
		n.counts[k] = new(big.Int)
	}
	n.counts[k].Add(n.counts[k], new(big.Int).SetUint64(count))
}

func (n *naiveBody) enter(k naiveKey) *naiveBody {
	if n.nested[k] == nil {
		n.nested[k] = newNaiveBody()
	}
	return n.nested[k]
}

func (n *naiveBody) merge(o *naiveBody) {
	for k, c := range o.counts {
		if n.counts[k] == nil {
			n.counts[k] = new(big.Int)
		}
		n.counts[k].Add(n.counts[k], c)
	}
	for k, m := range o.nested {
		n.enter(k).merge(m)
	}
}

func (n *naiveBody) records() []Record {
	keys := slices.Concat(slices.Collect(maps.Keys(n.counts)), slices.Collect(maps.Keys(n.nested)))
	slices.SortFunc(keys, func(a, b naiveKey) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.discriminator, b.discriminator),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.callee, b.callee))
	})
	var records []Record
	for _, k := range keys {
		r := Record{Line: k.line, Discriminator: k.discriminator, Kind: k.kind, Callee: k.callee}
		if k.kind != KindInlined {
			r.Count = saturated(n.counts[k])
			records = append(records, r)
			continue
		}
		nested := n.nested[k].records()
		r.Count = uint64(len(nested))
		records = append(append(records, r), nested...)
	}
	return records
}

// naiveOf converts canonical records to a naive body, by recursion.
func naiveOf(records []Record) *naiveBody {
	n := newNaiveBody()
	for i := 0; i < len(records); i++ {
		r := records[i]
		k := naiveKey{r.Line, r.Discriminator, r.Kind, r.Callee}
		if r.Kind != KindInlined {
			n.add(k, r.Count)
			continue
		}
		n.enter(k).merge(naiveOf(records[i+1 : i+1+int(r.Count)]))
		i += int(r.Count)
	}
	return n
}

var maxUint64 = new(big.Int).SetUint64(1<<64 - 1)

func saturated(x *big.Int) uint64 {
	if x.Cmp(maxUint64) > 0 {
		x = maxUint64
	}
	return x.Uint64()
}

// A shape describes random bodies.
type shape struct {
	lines, discriminators, callees uint32 // how many of each
	siblings, depth                int    // most of them
	ascending                      bool   // siblings come in order of line
}

// fill adds the same random records to a Body and to a naive body.
func (s shape) fill(rng *rand.Rand, b *Body, n *naiveBody, depth int) {
	lines := make([]uint32, rng.IntN(s.siblings+1))
	for i := range lines {
		lines[i] = rng.Uint32N(s.lines)
		if rng.IntN(50) == 0 {
			lines[i] = 1<<32 - 1 - rng.Uint32N(2)
		}
	}
	if s.ascending {
		slices.Sort(lines)
	}
	for _, line := range lines {
		k := naiveKey{line: line, discriminator: rng.Uint32N(s.discriminators), kind: Kind(rng.IntN(3))}
		if rng.IntN(50) == 0 {
			k.discriminator = 1<<32 - 1
		}
		if k.kind != KindCount {
			k.callee = SymbolRef(rng.Uint32N(s.callees))
		}
		count := randomCount(rng)
		switch {
		case k.kind == KindCount:
			b.Count(k.line, k.discriminator, count)
			n.add(k, count)
		case k.kind == KindCall || depth == s.depth:
			k.kind = KindCall
			b.Call(k.line, k.discriminator, k.callee, count)
			n.add(k, count)
		default:
			b.Enter(k.line, k.discriminator, k.callee)
			s.fill(rng, b, n.enter(k), depth+1)
			b.Leave()
		}
	}
}

// randomCount returns a count that is small and often repeated, or so large that sums saturate.
func randomCount(rng *rand.Rand) uint64 {
	switch rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return 1<<63 + rng.Uint64N(1<<62)
	case 2:
		return 1<<64 - 1
	case 3:
		return rng.Uint64()
	default:
		return rng.Uint64N(10)
	}
}

var shapes = map[string]shape{
	"flat":        {lines: 30, discriminators: 3, callees: 3, siblings: 40, depth: 0},
	"collisions":  {lines: 2, discriminators: 1, callees: 2, siblings: 6, depth: 6},
	"wide":        {lines: 1000, discriminators: 50, callees: 20, siblings: 30, depth: 2},
	"ascending":   {lines: 100, discriminators: 2, callees: 3, siblings: 8, depth: 4, ascending: true},
	"deep":        {lines: 3, discriminators: 2, callees: 2, siblings: 3, depth: 20},
	"one at each": {lines: 1, discriminators: 1, callees: 1, siblings: 4, depth: 5},
}
