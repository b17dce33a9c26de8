package builder

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Units are encoded by all processors, a part of them at a time: large enough that a part costs far
// more than to begin it, and so many that no processor waits long for the last.
const (
	partsEach   = 8        // for each processor
	leastOfPart = 10 << 16 // in tenths of a byte
)

// parts cuts the units, in the order of the plan, into stretches of about the same size.
func (p *Plan) parts() [][]Placed {
	total := uint64(0)
	for i := range p.units {
		total += p.units[i].size()
	}
	least := max(total/uint64(partsEach*runtime.GOMAXPROCS(0)), leastOfPart)
	var parts [][]Placed
	size, start := uint64(0), 0
	for i, u := range p.Units {
		if size += p.units[u.Unit].size(); size >= least || i == len(p.Units)-1 {
			parts = append(parts, p.Units[start:i+1])
			size, start = 0, i+1
		}
	}
	return parts
}

// room makes room for the sections of some units, of about the size that they will have.
func (p *Plan) room(units []Placed) (data []byte, sizes []uint64) {
	size, sections := uint64(0), 0
	for _, u := range units {
		size += p.units[u.Unit].size()
		sections += unitSections + int(p.units[u.Unit].Functions)
	}
	return make([]byte, 0, size/10), make([]uint64, 0, sections)
}

// inParallel deals the numbers below n out to as many goroutines as there are processors. do is
// called once in each, with those that it gets.
func inParallel(n int, do func(numbers iter.Seq[int])) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			do(func(yield func(int) bool) {
				for i := int(next.Add(1)) - 1; i < n && yield(i); {
					i = int(next.Add(1)) - 1
				}
			})
		})
	}
	running.Wait()
}
