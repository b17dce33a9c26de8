package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
)

// A comparison collects inferred and true counts of arcs.
type comparison struct {
	inferred, real       []int64
	inferredSum, realSum float64
	functions            []compared
}

// A compared is the difference in one function.
type compared struct {
	name                 string
	inferred, real, both float64
}

// add compares the functions of a unit. A function in several units is counted in the one that has
// its counts.
func (c *comparison) add(notes *gcda.Notes, inferred, real map[*gcda.Function][]int64, show string) {
	for i := range notes.Functions {
		f := &notes.Functions[i]
		counts, ok := real[f]
		if !ok {
			continue
		}
		guessed := inferred[f]
		if guessed == nil {
			guessed = make([]int64, len(counts))
		}
		d := compared{name: f.Name}
		for j := range counts {
			d.inferred += float64(guessed[j])
			d.real += float64(counts[j])
			d.both += math.Abs(float64(guessed[j] - counts[j]))
		}
		c.inferred, c.real = append(c.inferred, guessed...), append(c.real, counts...)
		c.inferredSum, c.realSum = c.inferredSum+d.inferred, c.realSum+d.real
		c.functions = append(c.functions, d)
		if f.Name == show {
			showFunction(f, guessed, counts)
		}
	}
}

// overlap is 1 if all arcs have the same share of all counts, and 0 if none has any in common.
func (c *comparison) overlap() float64 {
	sum := float64(0)
	for i := range c.real {
		sum += min(float64(c.inferred[i])/max(c.inferredSum, 1), float64(c.real[i])/max(c.realSum, 1))
	}
	return sum
}

// worst prints the functions that differ most.
func (c *comparison) worst(n int) {
	slices.SortFunc(c.functions, func(a, b compared) int { return cmp.Compare(b.both, a.both) })
	for _, f := range c.functions[:min(n, len(c.functions))] {
		if f.both/c.realSum > 0.003 {
			fmt.Printf("    %s: differs by %.1f%% of all counts; %.0f, really %.0f\n", f.name, 100*f.both/c.realSum, f.inferred, f.real)
		}
	}
}

func showFunction(f *gcda.Function, inferred, real []int64) {
	blocks, truth := f.BlockCounts(inferred), f.BlockCounts(real)
	largest := slices.Max(truth)
	for b := range blocks {
		mark := ""
		if diff := blocks[b] - truth[b]; max(diff, -diff) > largest/20 {
			mark = " ***"
		}
		fmt.Printf("block %d: %d, really %d%s ->", b, blocks[b], truth[b], mark)
		for i, a := range f.Arcs {
			if int(a.From) == b {
				fmt.Printf(" %d: %d/%d", a.To, inferred[i], real[i])
			}
		}
		fmt.Println()
	}
}
