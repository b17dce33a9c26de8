// Package annotate puts the samples of a unit at the lines of its source.
//
// Version 4 counts lines from the declaration of a function, and does not say where that is. So a
// [Listing] has offsets, and becomes one of source lines with what debug info says of the
// declarations, see [Declarations].
package annotate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Listing is the samples of one unit by function and line.
type Listing struct {
	Unit      *afdo.Unit
	Functions []*Function // of the unit, those with most samples first
}

// A Function has the samples of a function of the unit, including the samples of its copies inlined
// in functions of the unit.
type Function struct {
	Symbol    afdo.Symbol
	HeadCount uint64 // of the function itself, without copies
	Samples   uint64 // of all lines; what is inlined in them is not counted
	Declared  uint32 // line of the declaration, 0 as long as it is not known
	Lines     []Line // by offset

	lines map[int]*Line
}

// A Line has the counts of one line of a function.
type Line struct {
	Offset  int      // from the declaration; negative for a line before it
	Samples uint64   // of all discriminators
	Calls   []Callee // most calls first
	Inlined []Callee // most samples first

	calls, inlined callees
}

// A Callee is a function that was called or inlined, with the number of times.
type Callee struct {
	Symbol afdo.SymbolID
	Count  uint64 // calls, or samples of the inlined body and what is inlined in it
}

// callees collects the callees of one line.
type callees map[afdo.SymbolID]*open

// An open is a callee whose count is not complete yet.
type open struct {
	count uint64
	depth int // how many of its bodies at this line are open, more than one where it recurs
}

// of returns the entry of a callee, which is made where there is none.
func (c *callees) of(id afdo.SymbolID) *open {
	if *c == nil {
		*c = make(callees)
	}
	o := (*c)[id]
	if o == nil {
		o = new(open)
		(*c)[id] = o
	}
	return o
}

// sorted returns the callees, those with the largest counts first.
func (c callees) sorted() []Callee {
	all := make([]Callee, 0, len(c))
	for id, o := range c {
		all = append(all, Callee{id, o.count})
	}
	slices.SortFunc(all, func(a, b Callee) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Symbol, b.Symbol))
	})
	return all
}

// Read reads the samples of a unit, or of one symbol of it and the copies of that alone if only is
// not nil. It reads what the unit has and no other unit.
func Read(u *afdo.Unit, only *afdo.Symbol) (*Listing, error) {
	if err := u.Load(); err != nil {
		return nil, err
	}
	r := reader{unit: u, functions: make(map[afdo.SymbolID]*Function)}
	for s, err := range u.Symbols() {
		if err != nil {
			return nil, err
		}
		if err := r.symbol(s); err != nil {
			return nil, err
		}
	}
	l := &Listing{Unit: u}
	for id, f := range r.functions {
		if only == nil || only.ID() == id {
			l.Functions = append(l.Functions, f.finish())
		}
	}
	slices.SortFunc(l.Functions, func(a, b *Function) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Symbol.Name(), b.Symbol.Name()))
	})
	return l, nil
}

// A reader goes through the bodies of a unit.
type reader struct {
	unit      *afdo.Unit
	functions map[afdo.SymbolID]*Function
	cursor    afdo.Cursor
	bodies    []body // those around the record at hand
}

// A body is the body of a function, or of an inlined copy of it.
type body struct {
	function *Function // nil if it is of another unit
	entry    *open     // at the line where it is inlined; nil for the outermost, and for one in a function of another unit
	samples  uint64    // so far
}

func (r *reader) symbol(s afdo.Symbol) error {
	if !s.HasInfo() {
		return nil
	}
	info, err := s.Info()
	if err != nil {
		return err
	}
	f := r.function(s)
	f.HeadCount = info.HeadCount
	r.bodies = append(r.bodies[:0], body{function: f})
	for r.cursor.Reset(info); r.cursor.Next(); {
		r.leave(r.cursor.Depth() + 1)
		if err := r.record(r.cursor.Location()); err != nil {
			return err
		}
	}
	r.leave(1)
	return r.cursor.Err()
}

// record adds a record to its line and to the body that contains it.
func (r *reader) record(l *afdo.Location) error {
	b := &r.bodies[len(r.bodies)-1]
	b.samples = saturating.Add(b.samples, l.Count)
	line := b.function.line(l.Line)
	if line != nil {
		line.Samples = saturating.Add(line.Samples, l.Count)
	}
	for target := range r.cursor.Targets() {
		if line != nil {
			callee := line.calls.of(target.Callee)
			callee.count = saturating.Add(callee.count, target.Count)
		}
	}
	if l.Type == afdo.LocationInlinedFn {
		return r.enter(line, l.Callee)
	}
	return nil
}

// enter opens the body of an inlined function.
func (r *reader) enter(line *Line, id afdo.SymbolID) error {
	b := body{}
	if line != nil {
		b.entry = line.inlined.of(id)
		b.entry.depth++
	}
	if start, end := r.unit.IDs(); start <= id && id < end {
		s, err := r.unit.SymbolByID(id)
		if err != nil {
			return err
		}
		b.function = r.function(s)
	}
	r.bodies = append(r.bodies, b)
	return nil
}

// leave closes bodies until depth of them are open. The samples of each closed body count for its
// line, once if the function recurs there, and for the body around it.
func (r *reader) leave(depth int) {
	for len(r.bodies) > depth {
		last := len(r.bodies) - 1
		b := r.bodies[last]
		r.bodies = r.bodies[:last]
		around := &r.bodies[last-1]
		around.samples = saturating.Add(around.samples, b.samples)
		if b.entry == nil {
			continue
		}
		if b.entry.depth--; b.entry.depth == 0 {
			b.entry.count = saturating.Add(b.entry.count, b.samples)
		}
	}
}

func (r *reader) function(s afdo.Symbol) *Function {
	f := r.functions[s.ID()]
	if f == nil {
		f = &Function{Symbol: s, lines: make(map[int]*Line)}
		r.functions[s.ID()] = f
	}
	return f
}

// line returns the line of an offset, nil for a function of another unit.
func (f *Function) line(offset uint32) *Line {
	if f == nil {
		return nil
	}
	o := int(wire.Offset(offset))
	l := f.lines[o]
	if l == nil {
		l = &Line{Offset: o}
		f.lines[o] = l
	}
	return l
}

// finish sorts the lines and sums them up.
func (f *Function) finish() *Function {
	for _, offset := range slices.Sorted(maps.Keys(f.lines)) {
		l := f.lines[offset]
		f.Lines = append(f.Lines, Line{Offset: l.Offset, Samples: l.Samples, Calls: l.calls.sorted(), Inlined: l.inlined.sorted()})
		f.Samples = saturating.Add(f.Samples, l.Samples)
	}
	f.lines = nil
	return f
}
