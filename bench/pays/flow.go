package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-afdo/afdo/bench/poisson"
	"github.com/go-afdo/afdo/input/samples"
)

// A flow holds the execution counts of a binary's instructions and branches, as counted by
// callgrind with --dump-instr=yes --collect-jumps=yes. Addresses are file offsets.
type flow struct {
	counts map[uint64]uint64            // by instruction
	taken  map[uint64]map[uint64]uint64 // by branch and target
	ends   map[uint64]bool              // instructions that never continue with the next one
}

// readFlow reads a callgrind.out file with jumps.
func readFlow(b *samples.Binary, path string) (*flow, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	set, _, err := samples.Read(file, b, samples.Options{Jumps: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &flow{counts: maps.Collect(set.Addresses.All()), taken: make(map[uint64]map[uint64]uint64), ends: make(map[uint64]bool)}
	for branch, n := range set.Branches.All() {
		if f.taken[branch.From] == nil {
			f.taken[branch.From] = make(map[uint64]uint64)
		}
		f.taken[branch.From][branch.To] += n
	}
	return f, f.findLeaving(b.Path)
}

// findLeaving finds the x86 returns and unconditional jumps in the binary at path. Execution never
// continues with the next instruction after these.
func (f *flow) findLeaving(path string) error {
	code, err := os.ReadFile(path)
	for at := range f.counts {
		if at+1 >= uint64(len(code)) {
			continue
		}
		switch c, next := code[at], code[at+1]; {
		case c == 0xc2, c == 0xc3, c == 0xf3 && next == 0xc3, c == 0xe9, c == 0xeb, c == 0xff && next&0x30 == 0x20:
			f.ends[at] = true
		}
	}
	return err
}

// stack is the number of branches in a branch stack.
const stack = 32

// sample returns the samples that a processor would have recorded if it had recorded a branch stack
// at one of every period branches. Each branch, and each range of code between two branches,
// appears at random in proportion to its count. The order of ranges is unknown, so after each
// instruction the next one is chosen at random in proportion to the counts.
func (f *flow) sample(period uint64) *samples.Set {
	random := rand.New(rand.NewPCG(1, 2))
	set := new(samples.Set)
	seen := func(n float64) uint64 { return poisson.Draw(random, n*stack/float64(period)) }
	order := slices.Sorted(maps.Keys(f.counts))
	entries := f.entries(order)
	for _, from := range slices.Sorted(maps.Keys(f.taken)) {
		for _, to := range slices.Sorted(maps.Keys(f.taken[from])) {
			if n := seen(float64(f.taken[from][to])); n > 0 {
				set.Branches.Add(samples.Branch{From: from, To: to}, n)
			}
		}
	}
	for i, begin := range order {
		left := entries[begin]
		for j := i; j < len(order) && left >= 0.5; j++ {
			at := order[j]
			leave := left
			if j+1 < len(order) && order[j+1]-at <= 15 && !f.ends[at] {
				leave = left * min(1, float64(f.takenAt(at))/math.Max(1, float64(f.counts[at])))
			}
			if n := seen(leave); n > 0 {
				set.Ranges.Add(samples.Range{Begin: begin, End: at}, n)
			}
			left -= leave
		}
		if n := poisson.Draw(random, float64(f.counts[begin])/float64(period)); n > 0 {
			set.Addresses.Add(begin, n)
		}
	}
	return set
}

func (f *flow) takenAt(at uint64) uint64 {
	sum := uint64(0)
	for _, n := range f.taken[at] {
		sum += n
	}
	return sum
}

// entries returns how often each instruction was reached by a jump or call, and not from the
// instruction before it. order has the addresses of the instructions, sorted.
func (f *flow) entries(order []uint64) map[uint64]float64 {
	entries := make(map[uint64]float64)
	for i, at := range order {
		through := 0.0
		if i > 0 && at-order[i-1] <= 15 && !f.ends[order[i-1]] {
			before := order[i-1]
			through = max(0, float64(f.counts[before])-float64(f.takenAt(before)))
		}
		entries[at] = max(0, float64(f.counts[at])-through)
	}
	return entries
}
