package create

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A function is a symbol of the binary with its samples: the counts of its code, its calls and its
// jumps.
type function struct {
	symbol  symbolize.Symbol
	weight  uint64
	counts  []step  // changes of the count, from which stretches computes the count of each byte
	calls   []call  // branches from it to the starts of functions
	jumps   []jump  // branches within it
	sizes   []size  // of calls from it, see samples.CallSize
	head    uint64  // branches to its start
	during  uint64  // samples taken during calls of it, with call stacks
	time    uint64  // time of its first sample, 0 if unknown
	written bool    // all parts of the function together are over the threshold
	placed  *placed // nil before debug info is read
	name    strippedName
}

// A step is an address at which the number of executions rises or falls by count, because a range
// of code begins or ends there.
type step struct {
	at    uint64
	up    bool
	count uint64
}

// A call is a recorded branch to the start of a function, with its count.
type call struct {
	from   uint64
	callee *function
	count  uint64
}

// A jump is a branch within a function, with its count.
type jump struct{ from, to, count uint64 }

// A size is the number of bytes that count calls of memcpy or memset have handled, which returned
// to an address. profile.OtherSizes stands for several numbers.
type size struct{ after, bytes, count uint64 }

// tally adds the samples and branches to the functions that contain them.
func (c *creation) tally(set *samples.Set) error {
	switch {
	case c.options.Ranges == NeedRanges && set.Ranges.Len() == 0:
		return fmt.Errorf("create: %w: %d addresses, no ranges", ErrNoBranches, set.Addresses.Len())
	case c.options.Ranges != IgnoreRanges && set.Ranges.Len() > 0:
		c.report.Ranges = true
	}
	c.exact = set.Exact && !c.report.Ranges
	c.sameUnit = c.report.Ranges || set.Exact
	t := &tallier{creation: c, locator: locator{file: c.file}, byLow: make(map[uint64]*function)}
	if c.report.Ranges {
		t.ranges(set)
	} else {
		t.addresses(set)
	}
	t.branches(set)
	if c.report.Estimated = set.Branches.Len() == 0; c.report.Estimated {
		t.callers(set)
	}
	t.times(set)
	t.sizes(set)
	if t.err != nil {
		return t.err
	}
	c.functions = slices.AppendSeq(c.functions, maps.Values(t.byLow))
	c.sortFunctions()
	if len(c.functions) == 0 {
		return fmt.Errorf("create: %s: %w: %s", c.file.Path(), ErrNoCode, c.whyNoCode())
	}
	return nil
}

// sortFunctions sorts c.functions by address.
func (c *creation) sortFunctions() {
	slices.SortFunc(c.functions, func(a, b *function) int { return cmp.Compare(a.symbol.Low, b.symbol.Low) })
}

// whyNoCode returns the end of the message for [ErrNoCode]. It says why no sample is in a function,
// as far as that is known.
func (c *creation) whyNoCode() string {
	if !c.file.HasSymbols() {
		return "it has no symbol table with functions, it was stripped"
	}
	return fmt.Sprintf("samples weigh %d; are they of this build?", c.report.Weight)
}

// A tallier adds samples to the functions that contain them. It creates a function at the first
// sample.
type tallier struct {
	*creation
	locator
	byLow map[uint64]*function
}

// find returns the function that contains a file offset, and the address of the offset. It creates
// the function at its first sample. It returns nil if no symbol contains the offset.
func (t *tallier) find(offset uint64) (*function, uint64) {
	s, addr, ok := t.at(offset)
	if !ok {
		return nil, 0
	}
	f := t.byLow[s.Low]
	if f == nil {
		f = &function{symbol: s}
		t.byLow[s.Low] = f
	}
	return f, addr
}

// findOther does the same as find, for the target of a branch or the callee of a call. Unlike find,
// it does not change the cached result of the last search. The offsets that are passed to find are
// sorted and mostly in the same function, so the cache saves most searches.
func (t *tallier) findOther(offset uint64) (*function, uint64) {
	before := t.found
	f, addr := t.find(offset)
	t.found = before
	return f, addr
}

// ranges adds the ranges of a recording to the functions that contain them. It leaves out ranges
// that cannot have run.
func (t *tallier) ranges(set *samples.Set) {
	code := newDecoder(t.creation.file.ELF())
	for r, n := range set.Ranges.All() {
		t.report.RangeRuns = saturating.Add(t.report.RangeRuns, n)
		if r.End < r.Begin {
			t.report.BackwardRanges = saturating.Add(t.report.BackwardRanges, n)
			continue
		}
		size := r.End - r.Begin
		weight := saturating.Mul(n, saturating.Add(size, 1))
		f, begin := t.find(r.Begin)
		end := saturating.Add(begin, size)
		if f != nil && code.crosses(begin, end) {
			t.report.CrossingRanges = saturating.Add(t.report.CrossingRanges, n)
			continue
		}
		t.report.Weight = saturating.Add(t.report.Weight, weight)
		if f == nil {
			t.report.NoSymbol = saturating.Add(t.report.NoSymbol, weight)
			continue
		}
		f.weight = saturating.Add(f.weight, weight)
		if last := f.symbol.High - 1; end > last {
			t.report.Overruns = saturating.Add(t.report.Overruns, n)
			t.report.NoSymbol = saturating.Add(t.report.NoSymbol, saturating.Mul(n, end-last))
			end = last
		}
		f.add(begin, end+1, n)
	}
}

// addresses adds the sampled addresses of a recording to the functions that contain them.
func (t *tallier) addresses(set *samples.Set) {
	for offset, n := range set.Addresses.All() {
		t.report.Weight = saturating.Add(t.report.Weight, n)
		f, addr := t.find(offset)
		if f == nil {
			t.report.NoSymbol = saturating.Add(t.report.NoSymbol, n)
			continue
		}
		f.weight = saturating.Add(f.weight, n)
		f.add(addr, addr+1, n)
	}
}

// add adds n to the count of each byte from low up to, but not including, high.
func (f *function) add(low, high, n uint64) {
	f.counts = append(f.counts, step{low, true, n}, step{high, false, n})
}

// branches adds the recorded branches: a branch within a function as a jump, and a branch to the
// start of a function as a call. So tail calls are calls.
func (t *tallier) branches(set *samples.Set) {
	code := newDecoder(t.creation.file.ELF())
	for b, n := range set.Branches.All() {
		from, at := t.find(b.From)
		to, start := t.findOther(b.To)
		if to != nil && to == from && code.decode(at).Jumps {
			from.jumps = append(from.jumps, jump{at, start, n})
			t.jumps = true
			if set.Exact {
				continue // callgrind knows calls, so a jump to the start is a loop
			}
		}
		if to == nil || start != to.symbol.Low {
			continue
		}
		to.head = saturating.Add(to.head, n)
		if from != nil {
			from.calls = append(from.calls, call{at, to, n})
		}
	}
	for offset, n := range set.Entries.All() {
		if to, start := t.find(offset); to != nil && start == to.symbol.Low {
			to.head = saturating.Add(to.head, n)
		}
	}
}

// callers adds the calls that call stacks contain, for recordings without branches.
func (t *tallier) callers(set *samples.Set) {
	for stacked, n := range set.Calls.All() {
		from, at := t.find(stacked.From)
		callee, _ := t.findOther(stacked.In)
		if callee == nil {
			continue
		}
		t.report.Stacks = true
		callee.during = saturating.Add(callee.during, n)
		if from != nil {
			from.calls = append(from.calls, call{at, callee, n})
		}
	}
}

// times sets, for each function, the time at which its first sample was taken.
func (t *tallier) times(set *samples.Set) {
	for _, offset := range slices.Sorted(maps.Keys(set.Times)) {
		time := set.Times[offset]
		if f, _ := t.find(offset); f != nil && (f.time == 0 || time < f.time) {
			f.time = time
		}
	}
}

// sizeShare is the share of the calls at one address that a size must have to be kept. GCC uses a
// size only if at least half of the calls have it.
const sizeShare = 1. / 8

// sizes adds the recorded sizes of calls of memcpy and memset to the functions that contain the
// calls.
func (t *tallier) sizes(set *samples.Set) {
	all := make(map[uint64]uint64)
	for s, n := range set.Sizes.All() {
		all[s.After] = saturating.Add(all[s.After], n)
	}
	for s, n := range set.Sizes.All() {
		if f, after := t.find(s.After - 1); f != nil {
			if float64(n) < sizeShare*float64(all[s.After]) {
				s.Bytes = profile.OtherSizes
			}
			f.sizes = append(f.sizes, size{after + 1, s.Bytes, n})
		}
	}
}

// first returns the sum of the counts of all ranges or samples that begin at the first byte of the
// function.
func (f *function) first() (n uint64) {
	for _, s := range f.counts {
		if s.up && s.at == f.symbol.Low {
			n = saturating.Add(n, s.count)
		}
	}
	return n
}

// A stretch is a range of addresses whose bytes ran equally often, with their count.
type stretch struct{ low, high, count uint64 }

// stretches returns how often the code of a function ran: ranges of bytes with equal counts, in the
// order of addresses, without gaps between them.
func (f *function) stretches() []stretch {
	slices.SortFunc(f.counts, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	var out []stretch
	at := f.symbol.Low
	var hi, lo uint64 // the sum of many counts may need more than 64 bits
	add := func(until uint64) {
		if until > at {
			count := lo
			if hi != 0 {
				count = math.MaxUint64
			}
			out = append(out, stretch{at, until, count})
			at = until
		}
	}
	for _, s := range f.counts {
		add(min(s.at, f.symbol.High))
		var carry uint64
		if s.up {
			lo, carry = bits.Add64(lo, s.count, 0)
			hi += carry
		} else {
			lo, carry = bits.Sub64(lo, s.count, 0)
			hi -= carry
		}
	}
	add(f.symbol.High)
	return out
}

// stretchesIn returns the part of a list of stretches, which are ranges of bytes with equal counts,
// that has bytes from low up to, but not including, high.
func stretchesIn(stretches []stretch, low, high uint64) []stretch {
	first, _ := slices.BinarySearchFunc(stretches, low, func(s stretch, a uint64) int { return cmp.Compare(s.high, a+1) })
	end, _ := slices.BinarySearchFunc(stretches, high, func(s stretch, a uint64) int { return cmp.Compare(s.low, a) })
	return stretches[first:max(first, end)]
}

// applyThreshold marks the functions whose weight exceeds the threshold, to be written to the
// profile. The weight is the sum over all symbols that have the same name without suffixes. Debug
// info may later show that some of these symbols are different functions: static ones of the same
// name in several files. Then assemble compares each of them with the threshold again.
func (c *creation) applyThreshold() error {
	weights := make(map[string]uint64)
	for _, f := range c.functions {
		f.name = c.options.Suffixes.canonical(f.symbol.Names[0])
		weights[f.name.name] = saturating.Add(weights[f.name.name], f.weight)
	}
	hottest := uint64(0)
	chosen := make(map[string]bool)
	for name, weight := range weights {
		hottest = max(hottest, weight)
		if weight > c.options.MinSamples {
			chosen[name] = true
		}
	}
	for _, f := range c.functions {
		f.written = chosen[f.name.name]
	}
	if len(chosen) == 0 {
		return c.errThreshold(hottest)
	}
	return c.addParts(chosen)
}

func (c *creation) errThreshold(hottest uint64) error {
	return fmt.Errorf("create: %w of %d: the hottest of %d functions weighs %d", ErrThreshold, c.options.MinSamples, len(c.functions), hottest)
}

// addParts adds the parts of functions over the threshold, such as f.cold, that have no samples.
// The lines of these parts then get a count of 0 in the profile.
func (c *creation) addParts(chosen map[string]bool) error {
	if c.options.Suffixes == NoSuffixes {
		return nil
	}
	known := make(map[uint64]bool, len(c.functions))
	for _, f := range c.functions {
		known[f.symbol.Low] = true
	}
	for s, err := range c.file.Symbols() {
		if err != nil {
			return err
		}
		name := c.options.Suffixes.canonical(s.Names[0])
		if chosen[name.name] && !known[s.Low] {
			c.functions = append(c.functions, &function{symbol: s, name: name, written: true})
		}
	}
	c.sortFunctions()
	return nil
}
