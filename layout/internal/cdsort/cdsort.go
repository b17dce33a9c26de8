// Package cdsort orders functions so that callers and callees become neighbours in memory. It is a
// cache-directed sort: it merges chains of functions as long as a model of the instruction cache
// predicts fewer misses. The model and its constants are LLVM's.
package cdsort

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// The model: a cache of cacheEntries lines or pages of cacheSize bytes, which is missed with a
// probability that depends on how densely code runs; and a distance between caller and callee, of
// which the benefit falls with the power distancePower and is nothing at the distance of the whole
// code that runs. frequencyScale weighs one against the other.
const (
	cacheEntries   = 16
	cacheSize      = 2048
	maxChain       = 128 // functions of a chain
	distancePower  = 0.25
	frequencyScale = 0.25
	epsilon        = 1e-8
)

// A Function is the code of a function.
type Function struct {
	Size  uint64 // in bytes
	Count uint64 // how often it was entered
}

// A Call is calls of one function by another, by index, from an instruction Offset bytes after the
// start of the caller.
type Call struct {
	From, To int
	Offset   uint64
	Count    uint64
}

// Order returns the order of all functions. It takes about O(n log n) time for n functions and
// calls, and O(n) memory.
func Order(functions []Function, calls []Call) []int {
	s := newSort(functions, calls)
	s.mergeAll()
	return s.concatenate()
}

type sort struct {
	nodes  []node
	chains []*chain // by ID; nil if merged into another
	queue  queue
	total  float64 // sum of the counts of functions
	far    float64 // power of the size of all functions that have a count
}

// A node is a function.
type node struct {
	size, count uint64
	chain       *chain
	address     uint64 // from the start of its chain
}

// A chain is functions that lie one after another.
type chain struct {
	id          int
	functions   []int
	size, count uint64
	links       map[*chain]*link
}

func (c *chain) density() float64 { return float64(c.count) / float64(c.size) }

func (c *chain) add(s *sort, function int) {
	n := &s.nodes[function]
	n.chain, n.address = c, c.size
	c.functions = append(c.functions, function)
	c.size += n.size
	c.count += n.count
}

// A link is the calls between two chains in both directions.
type link struct {
	a, b  *chain
	calls []Call
	stamp int // of its latest entry in the queue
}

// An entry is a merge in the queue, of first and second in this order. It is outdated once the link
// has another stamp.
type entry struct {
	first, second *chain
	gain          float64
	link          *link
	stamp         int
}

// A queue has the merge with the highest gain first.
type queue []entry

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)   { *q = append(*q, e.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q queue) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	if a.gain != b.gain {
		return a.gain > b.gain
	}
	return cmp.Or(cmp.Compare(a.first.id, b.first.id), cmp.Compare(a.second.id, b.second.id)) < 0
}

func newSort(functions []Function, calls []Call) *sort {
	s := &sort{nodes: make([]node, len(functions))}
	size := uint64(0)
	for i, f := range functions {
		s.nodes[i] = node{size: max(f.Size, 1), count: f.Count}
		s.total += float64(f.Count)
		if f.Count > 0 {
			size += s.nodes[i].size
		}
	}
	s.far = math.Pow(float64(max(size, 1)), -distancePower)
	s.raiseCounts(calls)
	for i := range s.nodes {
		c := &chain{id: i, links: make(map[*chain]*link)}
		c.add(s, i)
		s.chains = append(s.chains, c)
	}
	for _, c := range calls {
		from, to := s.nodes[c.From].chain, s.nodes[c.To].chain
		if from == to || c.Count == 0 {
			continue
		}
		l := from.links[to]
		if l == nil {
			l = &link{a: from, b: to}
			from.links[to], to.links[from] = l, l
		}
		l.calls = append(l.calls, c)
	}
	return s
}

// raiseCounts makes the count of each function at least the sum of the calls to it, and the sum of
// its own calls.
func (s *sort) raiseCounts(calls []Call) {
	in, out := make([]uint64, len(s.nodes)), make([]uint64, len(s.nodes))
	for _, c := range calls {
		if c.From != c.To {
			in[c.To] = saturating.Add(in[c.To], c.Count)
			out[c.From] = saturating.Add(out[c.From], c.Count)
		}
	}
	for i := range s.nodes {
		s.nodes[i].count = max(s.nodes[i].count, in[i], out[i])
	}
}

// mergeAll merges chains as long as that gains something.
func (s *sort) mergeAll() {
	for _, c := range s.chains {
		for _, l := range c.links {
			if l.a == c {
				s.enqueue(l)
			}
		}
	}
	for s.queue.Len() > 0 {
		if best := heap.Pop(&s.queue).(entry); best.stamp == best.link.stamp {
			s.apply(best)
		}
	}
}

// enqueue adds the better order of two chains to the queue, and outdates the last one.
func (s *sort) enqueue(l *link) {
	l.stamp++
	a, b := l.a, l.b
	if a.id > b.id {
		a, b = b, a
	}
	if len(a.functions)+len(b.functions) > maxChain {
		return
	}
	e := entry{first: a, second: b, gain: s.gain(a, b, l.calls), link: l, stamp: l.stamp}
	if other := s.gain(b, a, l.calls); other > e.gain {
		e.first, e.second, e.gain = b, a, other
	}
	if e.gain > epsilon {
		heap.Push(&s.queue, e)
	}
}

// gain returns what it gains to put second after first.
func (s *sort) gain(first, second *chain, calls []Call) float64 {
	size, count := float64(first.size)+float64(second.size), float64(first.count)+float64(second.count)
	gain := frequencyScale * (s.misses(float64(first.count), first.density()) + s.misses(float64(second.count), second.density()) - s.misses(count, count/size))
	for _, c := range calls {
		from, to := s.nodes[c.From].address+c.Offset, s.nodes[c.To].address
		if s.nodes[c.From].chain == first {
			to += first.size
		} else {
			from += first.size
		}
		distance := math.Max(math.Abs(float64(from)-float64(to)), 0.1)
		gain += float64(c.Count) * (math.Pow(distance, -distancePower) - s.far)
	}
	if gain > 0 { // short chains first
		gain /= float64(min(first.size, second.size))
	}
	return gain
}

// misses returns how many of the entries of a chain miss the cache.
func (s *sort) misses(count, density float64) float64 {
	inPage := density * cacheSize
	if inPage >= s.total {
		return 0
	}
	return count * math.Pow(1-inPage/s.total, cacheEntries)
}

// apply merges two chains and looks anew for the best merges of the result.
func (s *sort) apply(e entry) {
	into, from := e.first, e.second
	for _, f := range from.functions {
		into.add(s, f)
	}
	e.link.stamp++
	delete(into.links, from)
	delete(from.links, into)
	for other, l := range from.links {
		delete(other.links, from)
		if kept := into.links[other]; kept != nil {
			kept.calls = append(kept.calls, l.calls...)
			l.stamp++
			continue
		}
		if l.a == from {
			l.a = into
		} else {
			l.b = into
		}
		into.links[other], other.links[into] = l, l
	}
	from.links, s.chains[from.id] = nil, nil
	for _, l := range into.links {
		s.enqueue(l)
	}
}

// concatenate returns the functions of all chains, those first that run most often for their size.
func (s *sort) concatenate() []int {
	rest := slices.DeleteFunc(s.chains, func(c *chain) bool { return c == nil })
	slices.SortFunc(rest, func(a, b *chain) int {
		return cmp.Or(cmp.Compare(b.density(), a.density()), cmp.Compare(a.id, b.id))
	})
	order := make([]int, 0, len(s.nodes))
	for _, c := range rest {
		order = append(order, c.functions...)
	}
	return order
}
