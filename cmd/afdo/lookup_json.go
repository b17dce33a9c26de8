package main

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
)

// A unitJSON writes symbols of a file as JSON. Records stand as they do in the
// file: those of one location are not added up (format note 13).
type unitJSON struct {
	jsonWriter
	reader   *afdo.Reader
	demangle bool
	callees  map[afdo.SymbolID]afdo.Symbol
}

func newUnitJSON(w io.Writer, r *afdo.Reader, demangle bool) *unitJSON {
	return &unitJSON{
		jsonWriter: jsonWriter{w: boundOutput(w, r)},
		reader:     r,
		demangle:   demangle,
		callees:    make(map[afdo.SymbolID]afdo.Symbol),
	}
}

// unit writes a unit with all its symbols.
func (j *unitJSON) unit(u *afdo.Unit) error {
	j.head(u)
	if err := newWalker(j.reader).symbols(u, j.symbol); err != nil {
		return err
	}
	return j.complete()
}

// only writes a unit with one of its symbols.
func (j *unitJSON) only(s afdo.Symbol) error {
	j.head(s.Unit())
	if err := newWalker(j.reader).symbol(s, j.symbol); err != nil {
		return err
	}
	return j.complete()
}

func (j *unitJSON) head(u *afdo.Unit) {
	start, end := u.IDs()
	j.object("")
	j.name("unit", u.Path())
	j.uint("first_id", uint64(start))
	j.uint("end_id", uint64(end))
	j.array("symbols")
}

func (j *unitJSON) complete() error {
	j.end()
	j.end()
	return j.finish()
}

func (j *unitJSON) symbol(s afdo.Symbol, f *function) error {
	j.object("")
	j.identity(s)
	j.bool("has_info", f != nil)
	if f != nil {
		j.uint("head_count", f.HeadCount)
		j.uint("timestamp", f.Timestamp)
		j.array("locations")
		if err := j.locations(f); err != nil {
			return err
		}
		j.end()
		if n := f.Unknown(); n > 0 {
			j.uint("unknown_locations", n)
		}
	}
	j.end()
	return j.err
}

// identity writes the members that say which symbol it is.
func (j *unitJSON) identity(s afdo.Symbol) {
	j.uint("id", uint64(s.ID()))
	j.name("name", s.Name())
	if j.demangle {
		j.name("demangled", demangled(s.Name()))
	}
}

// locations writes the records of a function.
func (j *unitJSON) locations(f *function) error {
	depth := 0
	for f.Next() && j.err == nil {
		for ; depth > f.Depth(); depth-- {
			j.leave()
		}
		l := f.Location()
		j.object("")
		j.uint("line", uint64(l.Line))
		j.uint("discriminator", uint64(l.Discriminator))
		switch l.Type {
		case afdo.LocationInlinedFn:
			if err := j.enter(l); err != nil {
				return err
			}
			depth++
			continue // until leave
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			if err := j.targets(f); err != nil {
				return err
			}
		default:
			j.uint("count", l.Count)
		}
		j.end()
	}
	for ; depth > 0; depth-- {
		j.leave()
	}
	return f.Err()
}

// enter begins the body of an inlined function.
func (j *unitJSON) enter(l *afdo.Location) error {
	j.object("inlined")
	if err := j.callee(l.Callee); err != nil {
		return err
	}
	j.array("locations")
	return nil
}

// leave completes such a body, the inlined function and the location.
func (j *unitJSON) leave() {
	j.end()
	j.end()
	j.end()
}

func (j *unitJSON) targets(f *function) error {
	j.array("targets")
	for t, ok := f.NextTarget(); ok; t, ok = f.NextTarget() {
		j.object("")
		if err := j.callee(t.Callee); err != nil {
			return err
		}
		j.uint("count", t.Count)
		j.end()
	}
	j.end()
	return nil
}

// callee writes the members that say which symbol of the file is called or inlined.
func (j *unitJSON) callee(id afdo.SymbolID) error {
	s, ok := j.callees[id]
	if !ok {
		var err error
		if s, err = j.reader.Symbol(id); err != nil {
			return fmt.Errorf("callee: %w", err)
		}
		j.callees[id] = s
	}
	j.identity(s)
	j.name("unit", s.Unit().Path())
	return nil
}
