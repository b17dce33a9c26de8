// Package cdsort orders functions so that callers and callees become neighbours in memory. It is a
// cache-directed sort: it merges chains of functions as long as a model of the instruction cache
// predicts fewer misses. The model and its constants are LLVM's.
package cdsort

import (
	"math"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/layout/internal/chains"
)

// Constants of the model. The instruction cache has cacheEntries entries of cacheSize bytes each.
// The probability of a miss depends on how often the bytes of an entry run. In addition, a call
// gains from a short distance between caller and callee: distance^-distancePower, minus
// size^-distancePower for the size of all code that runs. frequencyScale is the weight of cache
// misses relative to distances.
const (
	cacheEntries   = 16
	cacheSize      = 2048
	maxChain       = 128 // maximum number of functions in a chain
	distancePower  = 0.25
	frequencyScale = 0.25
)

// A Function is a function to be ordered: its size in bytes, and how often it was entered.
type Function struct {
	Size  uint64 // in bytes
	Count uint64 // how often it was entered
}

// A Call is a call between two functions, which are given by index. Offset is the position of the
// call instruction in the caller, in bytes.
type Call struct {
	From, To int
	Offset   uint64
	Count    uint64
}

// Order returns the indexes of all functions in the order in which they should be in memory. It
// takes about O(n log n) time for n functions and calls, and O(n) memory.
func Order(functions []Function, calls []Call) []int {
	s := newSort(functions, calls)
	s.MergeAll(s.best, s.join)
	return s.Concatenate(-1)
}

type chain = chains.Chain[Call]

// A sort is the state of ordering functions: the chains of functions built so far.
type sort struct {
	chains.Set[Call]
	nodes []node
	total float64 // sum of the counts of functions
	far   float64 // size of all functions that run, to the power -distancePower
}

// A node is a function together with its position in a chain, which is a sequence of functions that
// will be adjacent in memory.
type node struct {
	size, count uint64
	chain       *chain
	address     uint64 // offset from the start of its chain
}

// put appends the function with the given index to a chain.
func (s *sort) put(c *chain, function int) {
	n := &s.nodes[function]
	n.chain, n.address = c, c.Size
	c.Append(function, n.size, n.count)
}

// newSort returns the initial state of a sort, in which each function is a chain of its own.
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
		s.put(s.Add(), i)
	}
	for _, c := range calls {
		from, to := s.nodes[c.From].chain, s.nodes[c.To].chain
		if from != to && c.Count > 0 {
			s.Connect(from, to, c)
		}
	}
	return s
}

// raiseCounts raises the count of each function to at least the number of calls of it, and to at
// least the number of calls that it makes.
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

// best returns the best merge of the two chains of a link. It tries both orders of the chains.
func (s *sort) best(l *chains.Link[Call]) chains.Merge[Call] {
	a, b := l.InOrder()
	if len(a.Items)+len(b.Items) > maxChain {
		return chains.Merge[Call]{}
	}
	m := chains.Merge[Call]{First: a, Second: b, Gain: s.gain(a, b, l.Edges)}
	if other := s.gain(b, a, l.Edges); other > m.Gain {
		m.First, m.Second, m.Gain = b, a, other
	}
	return m
}

// join moves the functions of chain m.Second to the end of chain m.First.
func (s *sort) join(m chains.Merge[Call], _ *chains.Link[Call]) {
	for _, f := range m.Second.Items {
		s.put(m.First, f)
	}
}

// gain returns by how much the cost in the model falls if chain second is placed directly after
// chain first. The model estimates cache misses and the distances of calls. calls are the calls
// between the two chains.
func (s *sort) gain(first, second *chain, calls []Call) float64 {
	size, count := float64(first.Size)+float64(second.Size), float64(first.Count)+float64(second.Count)
	gain := frequencyScale * (s.misses(float64(first.Count), first.Density()) + s.misses(float64(second.Count), second.Density()) - s.misses(count, count/size))
	for _, c := range calls {
		from, to := s.nodes[c.From].address+c.Offset, s.nodes[c.To].address
		if s.nodes[c.From].chain == first {
			to += first.Size
		} else {
			from += first.Size
		}
		distance := math.Max(math.Abs(float64(from)-float64(to)), 0.1)
		gain += float64(c.Count) * (math.Pow(distance, -distancePower) - s.far)
	}
	if gain > 0 { // short chains first
		gain /= float64(min(first.Size, second.Size))
	}
	return gain
}

// misses returns the estimated number of cache misses for a number of function entries in a chain.
// count is this number, and density is the number of entries per byte of the chain.
func (s *sort) misses(count, density float64) float64 {
	inPage := density * cacheSize
	if inPage >= s.total {
		return 0
	}
	return count * math.Pow(1-inPage/s.total, cacheEntries)
}
