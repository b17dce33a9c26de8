package builder

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// All processors encode units, one part at a time. Parts are large enough to make the overhead
// negligible, and numerous enough that no processor waits long for the last one.
const (
	partsEach   = 8        // parts per processor
	leastOfPart = 10 << 16 // minimum size of a part, in tenths of a byte
)

// parts divides the units, in the order of the plan, into parts of similar size.
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

// room allocates memory for the estimated size of some units' sections.
func (p *Plan) room(units []Placed) (data []byte, sizes []uint64) {
	size, sections := uint64(0), 0
	for _, u := range units {
		size += p.units[u.Unit].size()
		sections += unitSections + int(p.units[u.Unit].Functions)
	}
	return make([]byte, 0, size/10), make([]uint64, 0, sections)
}

// inParallel distributes the numbers below n to one goroutine per processor. Each goroutine calls
// do once.
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
