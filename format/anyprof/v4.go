package anyprof

import (
	"fmt"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
)

// A v4 implements reader for a GCOV version 4 file, which it reads lazily.
type v4 struct{ r *afdo.Reader }

func (v *v4) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		spent := budget.New(v.r.Size()) // for all units together
		left := 0                       // units whose functions the caller did not read to the end
		for u, err := range v.r.Units() {
			if err != nil {
				yield(Unit{}, err)
				return
			}
			left++
			if !yield(v.unitOf(u, spent, func() { left-- }), nil) {
				return
			}
		}
		if left == 0 {
			if err := spent.End(v.r); err != nil {
				yield(Unit{}, err)
			}
		}
	}
}

func (v *v4) unit(path string) (Unit, error) {
	u, err := v.r.UnitBySuffix(path)
	if err != nil {
		return Unit{}, err
	}
	return v.unitOf(u, budget.New(v.r.Size()), func() {}), nil
}

// unitOf converts a unit. Reading its functions reduces the budget spent. end is called after the
// last function.
func (v *v4) unitOf(u *afdo.Unit, spent *budget.Budget, end func()) Unit {
	return Unit{Path: u.Path(), functions: func(yield func(*Function, error) bool) {
		if err := u.Load(); err != nil {
			yield(nil, err)
			return
		}
		for s, err := range u.Symbols() {
			var f *Function
			if err == nil {
				err = spent.Name(s.Name())
			}
			if err == nil {
				if !s.HasInfo() {
					continue
				}
				f, err = v.function(s, spent)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		end()
	}}
}

// function converts a symbol with samples to a Function.
func (v *v4) function(s afdo.Symbol, spent *budget.Budget) (*Function, error) {
	info, err := s.Info()
	if err == nil {
		err = spent.Samples(info)
	}
	if err != nil {
		return nil, fmt.Errorf("unit %.200q, symbol %.200q: %w", s.Unit().Path(), s.Name(), err)
	}
	return &Function{
		Name: Name{Text: s.Name()}, Unit: s.Unit().Path(), HeadCount: info.HeadCount,
		records: v.records(info),
	}, nil
}

// records iterates over the samples of a function. It looks up the names of all callees and inlined
// functions at once.
func (v *v4) records(info afdo.Info) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		names, err := v.callees(info)
		if err != nil {
			yield(Record{}, err)
			return
		}
		c := info.Cursor()
		for c.Next() {
			if !recordsOf(c, names, yield) {
				return
			}
		}
		if c.Err() != nil {
			yield(Record{}, c.Err())
		}
	}
}

// recordsOf yields the records for a location, which may be several.
func recordsOf(c *afdo.Cursor, names map[afdo.SymbolID]Name, yield func(Record, error) bool) bool {
	l := c.Location()
	r := Record{Depth: c.Depth(), Line: l.Line, Discriminator: l.Discriminator}
	switch l.Type {
	case afdo.LocationZero, afdo.LocationNormal, afdo.LocationWide:
		r.Kind, r.Count = Samples, l.Count
		return yield(r, nil)
	case afdo.LocationInlinedFn:
		r.Kind, r.Name = Inlined, names[l.Callee]
		return yield(r, nil)
	}
	for t := range c.Targets() {
		r.Kind, r.Name, r.Count = Call, names[t.Callee], t.Count
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// callees returns the names of the functions that a function calls and inlines.
func (v *v4) callees(info afdo.Info) (map[afdo.SymbolID]Name, error) {
	names := make(map[afdo.SymbolID]Name)
	var ids []afdo.SymbolID
	add := func(id afdo.SymbolID) {
		if _, ok := names[id]; !ok {
			names[id] = Name{}
			ids = append(ids, id)
		}
	}
	c := info.Cursor()
	for c.Next() {
		if c.Location().Type == afdo.LocationInlinedFn {
			add(c.Location().Callee)
		}
		for t := range c.Targets() {
			add(t.Callee)
		}
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	symbols, err := v.r.SymbolsByID(ids)
	if err != nil {
		return nil, err
	}
	for i, s := range symbols {
		names[ids[i]] = Name{Text: s.Name()}
	}
	return names, nil
}
