package gcovkind

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A unitJSON writes a list of units with some or all of their symbols as JSON. Records have the
// order of the file: records with the same location are not added up (format note 13).
type unitJSON struct {
	*jsonstream.Writer
	reader   *afdo.Reader
	walker   *walker
	demangle bool
	callees  map[afdo.SymbolID]afdo.Symbol
}

func newUnitJSON(w io.Writer, r *afdo.Reader, demangle bool) *unitJSON {
	j := &unitJSON{
		Writer:   jsonstream.New(boundOutput(w, r)),
		reader:   r,
		walker:   newWalker(r),
		demangle: demangle,
		callees:  make(map[afdo.SymbolID]afdo.Symbol),
	}
	j.List("units")
	return j
}

// unit writes a unit with all its symbols.
func (j *unitJSON) unit(u *afdo.Unit) error {
	j.head(u)
	if err := j.walker.symbols(u, j.symbol); err != nil {
		return err
	}
	j.foot()
	return nil
}

// only writes a unit with one of its symbols.
func (j *unitJSON) only(s afdo.Symbol) error {
	j.head(s.Unit())
	if err := j.walker.symbol(s, j.symbol); err != nil {
		return fmt.Errorf("unit %.200q: %w", s.Unit().Path(), err)
	}
	j.foot()
	return nil
}

func (j *unitJSON) head(u *afdo.Unit) {
	start, end := u.IDs()
	j.Object("")
	j.Name("unit", u.Path())
	j.Uint("first_id", uint64(start))
	j.Uint("end_id", uint64(end))
	j.Array("symbols")
}

func (j *unitJSON) foot() {
	j.End()
	j.End()
}

// complete ends the list of units.
func (j *unitJSON) complete() error { return j.FinishList() }

func (j *unitJSON) symbol(s afdo.Symbol, f *function) error {
	j.Object("")
	j.identity(s)
	j.Bool("has_info", f != nil)
	if f != nil {
		j.Uint("head_count", f.HeadCount)
		j.Uint("timestamp", f.Timestamp)
		j.Array("locations")
		samples, err := j.locations(f)
		if err != nil {
			return err
		}
		j.End()
		j.Uint("samples", samples)
		if n := f.Unknown(); n > 0 {
			j.Uint("unknown_locations", n)
		}
	}
	j.End()
	return j.Err()
}

// identity writes the members that say which symbol it is.
func (j *unitJSON) identity(s afdo.Symbol) {
	j.Uint("id", uint64(s.ID()))
	j.Name("name", s.Name())
	if j.demangle {
		j.Name("demangled", demangled.Name(s.Name()))
	}
}

// locations writes the records of a function and returns the saturating sum of their counts.
func (j *unitJSON) locations(f *function) (samples uint64, err error) {
	depth := 0
	for f.Next() && j.Err() == nil {
		for ; depth > f.Depth(); depth-- {
			j.leave()
		}
		l := f.Location()
		j.Object("")
		j.Uint("line", uint64(l.Line))
		j.Uint("discriminator", uint64(l.Discriminator))
		switch l.Type {
		case afdo.LocationInlinedFn:
			if err := j.enter(l); err != nil {
				return 0, err
			}
			depth++
			continue // until leave
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			if err := j.targets(f); err != nil {
				return 0, err
			}
		default:
			j.Uint("count", l.Count)
			samples = saturating.Add(samples, l.Count)
		}
		j.End()
	}
	for ; depth > 0; depth-- {
		j.leave()
	}
	return samples, f.Err()
}

// enter begins the body of an inlined function.
func (j *unitJSON) enter(l *afdo.Location) error {
	j.Object("inlined")
	if err := j.callee(l.Callee); err != nil {
		return err
	}
	j.Array("locations")
	return nil
}

// leave completes an inlined body, its function and its location.
func (j *unitJSON) leave() {
	j.End()
	j.End()
	j.End()
}

func (j *unitJSON) targets(f *function) error {
	j.Array("targets")
	for t := range f.Targets() {
		j.Object("")
		if err := j.callee(t.Callee); err != nil {
			return err
		}
		j.Uint("count", t.Count)
		j.End()
	}
	j.End()
	return nil
}

// callee writes the members that say which symbol of the file is called or inlined.
func (j *unitJSON) callee(id afdo.SymbolID) error {
	s, ok := j.callees[id]
	if !ok {
		var err error
		if s, err = j.reader.SymbolByID(id); err != nil {
			return fmt.Errorf("callee: %w", err)
		}
		j.callees[id] = s
	}
	j.identity(s)
	j.Name("unit", s.Unit().Path())
	return nil
}
