package gcovkind

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

// Lookup prints one unit or symbol as text or JSON, or a list of the units that have a symbol.
func (k *Kind) Lookup(e *cli.Env, f *input.File, l *kind.LookupOptions) error {
	in, err := open(f, f.Remote() || f.InPieces()) // an index saves little of a file that is in memory
	if err != nil {
		return err
	}
	r, err := in.Reader()
	if err != nil {
		return err
	}
	err = lookup(e, in, r, l)
	if errors.Is(err, afdo.ErrNotFound) && in.mayBeHidden() { // the index may leave out what the file has
		whole, openErr := open(f, false)
		if openErr != nil {
			return openErr
		}
		return lookup(e, whole, whole.reader, l)
	}
	return err
}

func lookup(e *cli.Env, in *Input, r *afdo.Reader, l *kind.LookupOptions) error {
	if !l.HasUnit {
		return search(e, in, r, l)
	}
	u, err := find.Unit(r, l.Unit)
	if err != nil {
		return err
	}
	if !l.HasSymbol {
		return printUnit(e, r, u, l)
	}
	s, err := find.Symbol(u, l.Symbol)
	if err != nil {
		return err
	}
	return printSymbol(e, r, s, l)
}

// gcPercent lets the heap grow by this percentage while a unit is printed. The largest unit takes
// some megabytes, and the process ends afterwards.
const gcPercent = 400

func printUnit(e *cli.Env, r *afdo.Reader, u *afdo.Unit, l *kind.LookupOptions) error {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if !l.JSON {
			return textfmt.PrintUnit(textWriter(l, w), r, u)
		}
		j := newUnitJSON(w, r, l.Demangle)
		if err := j.unit(u); err != nil {
			return err
		}
		return j.complete()
	})
}

func printSymbol(e *cli.Env, r *afdo.Reader, s afdo.Symbol, l *kind.LookupOptions) error {
	if l.JSON {
		return printJSON(e, r, []afdo.Symbol{s}, l)
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return textfmt.PrintSymbol(textWriter(l, w), r, s) })
}

// printJSON prints the samples of symbols as JSON, each with its unit.
func printJSON(e *cli.Env, r *afdo.Reader, symbols []afdo.Symbol, l *kind.LookupOptions) error {
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		j := newUnitJSON(w, r, l.Demangle)
		for _, s := range symbols {
			if err := j.only(s); err != nil {
				return err
			}
		}
		return j.complete()
	})
}

// textWriter returns a writer for profiles in the text format. It is w itself or, if the flags ask
// for demangled names, a writer that demangles names and writes to w.
func textWriter(l *kind.LookupOptions, w io.Writer) io.Writer {
	if l.Demangle {
		return demangled.NewWriter(w)
	}
	return w
}

// search prints the units that have a symbol of the wanted name, with its samples. If the symbol
// has no samples in a unit, search also prints the functions into which it was inlined.
func search(e *cli.Env, in *Input, r *afdo.Reader, l *kind.LookupOptions) error {
	if has, _ := hasBlock(r, indexfmt.Names); !has {
		in.Keep() // all of the file is searched, which gives the error of a damaged index
	}
	p := index.NewProgram(r)
	p.Expect(symname.Canonical(l.Symbol), find.Unqualified(l.Symbol))
	symbols, err := named(p, l.Symbol)
	if err != nil {
		return err
	}
	if len(symbols) == 0 {
		if r == in.reader && in.mayBeHidden() {
			return afdo.ErrNotFound // before names like this are tried
		}
		name, err := meant(r, p, l.Symbol)
		if err != nil {
			return err
		}
		if symbols, err = named(p, name); err != nil {
			return err
		}
	}
	slices.SortStableFunc(symbols, func(a, b afdo.Symbol) int { return cmp.Compare(a.Unit().Index(), b.Unit().Index()) })
	if l.JSON {
		return printJSON(e, r, symbols, l)
	}
	t := &table.Table{Columns: "rrl"}
	t.Row("Samples", "Head count", "Unit")
	w := newWalker(r)
	for _, s := range symbols {
		if err := w.symbol(s, func(s afdo.Symbol, f *function) error { addMatch(t, s, f); return nil }); err != nil {
			return fmt.Errorf("unit %.200q: %w", s.Unit().Path(), err)
		}
	}
	inlined, err := inliners(e, in, r, p, symbols, l.Number)
	if err != nil {
		return err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if err := t.Write(w, 0); err != nil {
			return err
		}
		return writeInliners(w, inlined, l)
	})
}

// meant returns the full name of the symbol that the user means by typed. No symbol has typed as
// its exact name. If the file has an index with unqualified names, meant reads only symbols with
// the same unqualified name, and does not suggest others.
func meant(r *afdo.Reader, p *index.Program, typed string) (string, error) {
	names := find.Names(r.Units())
	if x, err := index.Read(r); err == nil {
		info, err := x.Info()
		if err != nil {
			return "", err
		}
		if info.Unqualified == slice.Names.Name {
			names = find.NamesOf(p.Unqualified([]string{find.Unqualified(typed)}, slice.Names, nil), afdo.Symbol.Name)
		}
	}
	return find.Meant("symbol", typed, names)
}

// hasBlock reports whether the file has a usable index with a block of the given kind.
func hasBlock(r *afdo.Reader, kind indexfmt.Kind) (bool, error) {
	x, err := v4.FileOf(r).Index()
	if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrIndex) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return x.Has(kind), nil
}

// named returns all symbols of the given name in a file.
func named(p *index.Program, name string) (symbols []afdo.Symbol, err error) {
	for s, err := range p.Named(name) {
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, s)
	}
	return symbols, nil
}

func addMatch(t *table.Table, s afdo.Symbol, f *function) {
	if f == nil {
		t.Row("none", "", human.Unit(s.Unit().Path()))
		return
	}
	t.Row(human.Number(f.samples()), human.Number(f.HeadCount), human.Unit(s.Unit().Path()))
}

// An inlining is the result of inliners: functions into which some symbols were inlined.
type inlining struct {
	shown  []afdo.Symbol
	others int // number of functions that are not shown
}

// inliners returns functions into which symbols were inlined. It looks only at those of the given
// symbols that have no samples of their own. It returns at most number functions, or all if number
// is 0. If the file has no index, finding the functions would need the whole file. Then inliners
// prints a hint and returns none.
func inliners(e *cli.Env, in *Input, r *afdo.Reader, p *index.Program, symbols []afdo.Symbol, number table.Count) (f inlining, err error) {
	var without []afdo.SymbolID
	for _, s := range symbols {
		if !s.HasInfo() {
			without = append(without, s.ID())
		}
	}
	if len(without) == 0 {
		return f, nil
	}
	if IsV4(in.Format) { // a file of another format was read as a whole in any case
		if known, err := hasBlock(r, indexfmt.CallerGroups); err != nil {
			return f, err
		} else if !known {
			e.Warnf("%s has no index, so it is unknown in which functions this is inlined; \"afdo index\" adds one", human.Name(in.Name))
			return f, nil
		}
	}
	f.shown, f.others, err = p.Callers(without, int(min(number, math.MaxInt)))
	return f, err
}

// writeInliners prints the functions into which a symbol was inlined, and how many more there are.
func writeInliners(w io.Writer, f inlining, l *kind.LookupOptions) error {
	if len(f.shown) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\nInlined in\n"); err != nil {
		return err
	}
	t := &table.Table{Columns: "ll"}
	for _, s := range f.shown {
		name := s.Name()
		if l.Demangle {
			name = demangled.Name(name)
		}
		t.Row(human.Name(name), human.Unit(s.Unit().Path()))
	}
	if err := t.Write(w, 2); err != nil || f.others == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "  %s more\n", human.Number(f.others))
	return err
}

// A unitJSON writes units as JSON, with some or all of their symbols. Records are in the order of
// the file. Several records with the same location are not added up (format note 13).
type unitJSON struct {
	*jsonstream.Writer
	reader   *afdo.Reader
	walker   *walker
	demangle bool
	callees  map[afdo.SymbolID]afdo.Symbol
}

func newUnitJSON(w io.Writer, r *afdo.Reader, demangle bool) *unitJSON {
	j := &unitJSON{
		Writer:   jsonstream.New(&boundedWriter{w, freeOutput + outputPerByte*min(r.Size(), math.MaxInt64/outputPerByte/2)}),
		reader:   r,
		walker:   newWalker(r),
		demangle: demangle,
		callees:  make(map[afdo.SymbolID]afdo.Symbol),
	}
	j.List("units")
	return j
}

// unit writes a unit with all its symbols as JSON.
func (j *unitJSON) unit(u *afdo.Unit) error {
	j.head(u)
	if err := j.walker.symbols(u, j.symbol); err != nil {
		return err
	}
	j.foot()
	return nil
}

// only writes the unit of the symbol s, without its other symbols.
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

// complete ends the JSON document.
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

// identity writes the JSON members that identify a symbol: ID, name and demangled name.
func (j *unitJSON) identity(s afdo.Symbol) {
	j.Uint("id", uint64(s.ID()))
	j.Name("name", s.Name())
	if j.demangle {
		j.Name("demangled", demangled.Name(s.Name()))
	}
}

// locations writes the records of a function as JSON, and returns the saturating sum of their
// counts.
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

// enter begins the JSON object of an inlined function. l is the record of the inlined call.
func (j *unitJSON) enter(l *afdo.Location) error {
	j.Object("inlined")
	if err := j.callee(l.Callee); err != nil {
		return err
	}
	j.Array("locations")
	return nil
}

// leave writes the closing brackets after the locations of an inlined function: those of its
// list of locations, of the function itself, and of the caller's location at which it is
// inlined.
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

// callee writes the JSON members that identify a function that is called or inlined: its name and
// its unit. id is its symbol ID.
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
