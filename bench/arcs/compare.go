package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
)

// A comparison collects inferred and true counts of arcs. A function that several units define is
// compared once, with the sums of the units: the linker takes one of the instrumented functions,
// which counts for all units.
type comparison struct {
	functions map[definition]*compared
}

type definition struct {
	name     string
	checksum uint32
	unit     string // of a static function
}

// A compared is a function with its counts.
type compared struct {
	*gcda.Function
	inferred, real []int64
}

// add adds the functions of a unit.
func (c *comparison) add(notes *gcda.Notes, inferred, real map[*gcda.Function][]int64) {
	for i := range notes.Functions {
		f := &notes.Functions[i]
		d := definition{name: f.Name, checksum: f.CFGChecksum}
		if !strings.HasPrefix(f.Name, "_Z") || strings.HasPrefix(f.Name, "_ZL") {
			d.unit = fmt.Sprint(notes.Stamp)
		}
		if c.functions[d] == nil {
			c.functions[d] = &compared{f, make([]int64, len(f.Arcs)), make([]int64, len(f.Arcs))}
		}
		for j, n := range inferred[f] {
			c.functions[d].inferred[j] += n
		}
		for j, n := range real[f] {
			c.functions[d].real[j] += n
		}
	}
}

// overlap is 1 if all arcs have the same share of all counts, and 0 if none has any in common.
func (c *comparison) overlap() float64 {
	inferred, real := float64(1), float64(1)
	for _, f := range c.functions {
		inferred += sum(f.inferred)
		real += sum(f.real)
	}
	overlap := float64(0)
	for _, f := range c.functions {
		for j := range f.real {
			overlap += min(float64(f.inferred[j])/inferred, float64(f.real[j])/real)
		}
	}
	return overlap
}

func sum(counts []int64) (sum float64) {
	for _, n := range counts {
		sum += float64(n)
	}
	return sum
}

// difference is the sum of the differences of all arcs.
func (f *compared) difference() (sum float64) {
	for i, n := range f.inferred {
		sum += math.Abs(float64(n - f.real[i]))
	}
	return sum
}

// worst prints the functions that differ most, and the blocks of one function.
func (c *comparison) worst(n int, show string) {
	total := float64(0)
	var functions []*compared
	for _, f := range c.functions {
		total += sum(f.real)
		functions = append(functions, f)
	}
	slices.SortFunc(functions, func(a, b *compared) int { return cmp.Compare(b.difference(), a.difference()) })
	for i, f := range functions {
		if d := f.difference(); i < n && d/total > 0.003 {
			fmt.Printf("    %s: differs by %.1f%% of all counts; %.0f, really %.0f\n", f.Name, 100*d/total, sum(f.inferred), sum(f.real))
		}
		if f.Name == show {
			showFunction(f.Function, f.inferred, f.real)
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
