package main

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
)

// A comparison collects inferred and true counts of arcs, by function. A function that several
// units define is compared once, with the sums over these units, because the linker keeps one of
// the instrumented copies, which counts for all units.
type comparison struct {
	functions map[definition]*compared
}

type definition struct {
	name     string
	checksum uint32
	unit     string // of a static function
}

// A compared is a function with the inferred counts of its arcs and the true counts of an
// instrumented run.
type compared struct {
	*gcda.Function
	inferred, real []int64
}

// add adds the functions of a unit to the comparison. notes is the unit's .gcno file; inferred and
// real are the counts of arcs by function.
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

// overlap returns how much the inferred counts of arcs agree with the true ones: 1 if each arc has
// the same share of all counts in both, and 0 if no arc has counts in both.
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
