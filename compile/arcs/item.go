package arcs

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// unlimited is the upper bound of an [item] whose evidence gives none.
const unlimited = math.MaxInt64

// An item is what the evidence says about one sum of counts in the control flow graph: the sum of
// the counts of certain blocks, or of certain arcs, is at least low and at most high.
type item struct {
	arcs    bool     // it is about arcs, not about blocks
	numbers []uint32 // of these arcs or blocks
	low     int64
	high    int64
	spread  int  // number of blocks with the source position, which may be more than are in numbers
	fixed   bool // compilers seldom move the statement to another block
}

// items converts the recorded counts of machine code to bounds for the counts of blocks and arcs of
// the function's control flow graph. It uses how often code with each source position ran, how
// often each jump was taken, and how often the function was entered.
func (f *function) items() []item {
	slices.SortFunc(f.sightings, func(a, b sighting) int {
		return cmp.Or(a.key.compare(b.key), cmp.Compare(a.copy, b.copy), cmp.Compare(a.block, b.block), cmp.Compare(a.discriminator, b.discriminator))
	})
	f.sumCopies()
	items := f.branchItems()
	f.dropConverted()
	for rest := f.sightings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].key == rest[0].key {
			n++
		}
		at := f.itemsAt(rest[:n])
		for i := range at {
			at[i].fixed = f.fixed[rest[0].key]
		}
		items = append(items, at...)
		rest = rest[n:]
	}
	items = append(items, f.limitItems()...)
	if f.called {
		high := int64(unlimited)
		if !f.inlined {
			high = count(f.entry)
		}
		items = append(items, item{numbers: []uint32{0}, low: count(f.entry), high: high})
	}
	return items
}

// limitItems returns upper bounds for the counts of blocks that contain inlined calls. It does so
// for calls of which no machine code is left in the function itself.
func (f *function) limitItems() (items []item) {
	for _, k := range slices.SortedFunc(maps.Keys(f.limits), key.compare) {
		if blocks := f.whereOnce(k); len(blocks) > 0 {
			items = append(items, item{numbers: blocks, high: f.limits[k], spread: len(f.where[k]), fixed: true})
		}
	}
	return items
}

// sumCopies computes how often each copy of the function's machine code ran, f.copies. That is the
// largest count of the blocks of the copy.
func (f *function) sumCopies() {
	f.copies, f.copiesSum = make(map[int32]uint64), 0
	for _, s := range f.sightings {
		f.copies[s.copy] = max(f.copies[s.copy], min(s.count, maxCount))
	}
	for _, n := range f.copies {
		f.copiesSum += n
	}
}

// itemsAt returns bounds for the counts of the blocks or arcs of the graph that have one source
// position. The sightings are the counts of all machine code there. If several blocks have the
// position and their discriminators distinguish them, there are also bounds for each discriminator.
func (f *function) itemsAt(sightings []sighting) []item {
	k := sightings[0].key
	low, high := bounds(sightings)
	high = count(uint64(high + f.limits[k]))
	delete(f.limits, k)
	if f.endsWithTest(f.where[k]) {
		high = count(uint64(high) + f.missing(sightings))
	}
	if arcs := f.between[k]; len(arcs) > 0 {
		return []item{{arcs: true, numbers: arcs, low: low, high: high}}
	}
	blocks := f.whereOnce(k)
	items := []item{{numbers: blocks, low: low, high: high, spread: len(f.where[k])}}
	if len(blocks) < 2 {
		return items
	}
	parts := f.discriminate(k, blocks)
	if len(parts) < 2 {
		return items
	}
	seen := make(map[uint32][]sighting)
	for _, s := range sightings {
		if parts[s.discriminator] == nil {
			return items
		}
		seen[s.discriminator] = append(seen[s.discriminator], s)
	}
	for _, s := range sightings {
		if same := seen[s.discriminator]; same != nil {
			low, high := bounds(same)
			items = append(items, item{numbers: parts[s.discriminator], low: low, high: high})
			seen[s.discriminator] = nil
		}
	}
	return items
}

// whereOnce returns the blocks of the graph that have a source position. If one of these blocks
// always runs after another one of them, whereOnce leaves it out. So the counts of the returned
// blocks add up to how often code at the position ran.
func (f *function) whereOnce(k key) []uint32 {
	all := f.where[k]
	var once []uint32
	for _, b := range all {
		before, follows := f.follows[b], false
		for n := 0; before != 0 && n < nearby && !follows; n++ {
			follows, before = slices.Contains(all, before), f.follows[before]
		}
		if !follows {
			once = append(once, b)
		}
	}
	if len(once) == 0 {
		return all
	}
	return once
}

// endsWithTest reports whether blocks has a single block of the graph, and this block ends with a
// condition.
func (f *function) endsWithTest(blocks []uint32) bool {
	return len(blocks) == 1 && f.conditional(blocks[0])
}

// missing returns how often those copies of the function's machine code ran in which a source
// position does not occur. sightings are the counts at that position, ordered by copy. For example,
// a copy for a constant argument has no code for the condition that the constant decides, although
// the graph has the condition.
func (f *function) missing(sightings []sighting) uint64 {
	sum := f.copiesSum
	for i, s := range sightings {
		if i == 0 || s.copy != sightings[i-1].copy {
			sum -= f.copies[s.copy]
		}
	}
	return sum
}

// discriminate groups blocks of the graph by the discriminators that their statements at source
// position k have. It leaves out blocks without a statement there.
func (f *function) discriminate(k key, blocks []uint32) map[uint32][]uint32 {
	parts := make(map[uint32][]uint32)
	add := func(discriminator, b uint32) {
		if at := parts[discriminator]; len(at) == 0 || at[len(at)-1] != b {
			parts[discriminator] = append(at, b)
		}
	}
	for _, n := range blocks {
		b := &f.blocks[n]
		for _, p := range b.places {
			switch {
			case p.key != k:
			case b.own:
				add(p.discriminator, n)
			default:
				add(b.discriminator, n)
			}
		}
	}
	return parts
}

// bounds returns a lower and an upper bound for how often the code at one source position ran,
// given the counts of all machine code there, ordered by copy of the function and block.
//
// Several blocks of machine code with the same position in one copy may be parts of the same code,
// or alternatives. So the lower bound for a copy is its largest count, and the upper bound is the
// sum of its counts. The bounds of the copies are added up.
func bounds(sightings []sighting) (low, high int64) {
	largest, sum := uint64(0), uint64(0)
	for i, s := range sightings {
		if i > 0 && s.copy == sightings[i-1].copy && s.block == sightings[i-1].block {
			continue
		}
		if i > 0 && s.copy != sightings[i-1].copy {
			low, high = count(uint64(low)+largest), count(uint64(high)+sum)
			largest, sum = 0, 0
		}
		largest, sum = max(largest, s.count), sum+s.count
	}
	return count(uint64(low) + largest), count(uint64(high) + sum)
}

// maxCount limits the counts in the optimisation problem, so that sums of counts and products with
// costs fit in 64 bits.
const maxCount = 1 << 44

// count converts a count to the type of the optimisation problem. Counts above maxCount become
// maxCount.
func count(n uint64) int64 { return int64(min(n, maxCount)) }
