package textfmt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// Print writes a version 4 file in the text form (RFC 5), in the layout of the RFC's example. File
// names, units and symbols are in file order, and symbols keep their IDs. The unit of unknown files
// has file ID -1 and is not listed (format note 24). Records are grouped by section but otherwise
// unchanged: those of the same location are not combined. A symbol without samples is printed with
// an empty body, unless the header of an inlined function names it anyway (format note 21).
//
// Print reads the file twice. In the first pass it searches for errors and inlined symbols, so that
// nothing is written if the file is malformed or contains a name that the text cannot hold, see
// afdo.ErrUnrepresentable. It takes memory for the names of all symbols, the paths
// of all units, about 50 bytes per symbol, the current unit, and 24 bytes for each record of the
// current function.
//
// Errors of r include the unit and symbol with the samples. Errors of w are returned unchanged. A
// callee that no unit has gives afdo.ErrMalformed, and samples that no symbol has afdo.ErrUnused.
// If the text would be far larger than that of any real file, because functions or strings share
// bytes a thousandfold, the error is afdo.ErrLimit.
func Print(w io.Writer, r *afdo.Reader) error {
	p := newPrinter(w, r)
	if err := p.eachUnit(p.surveyUnit); err != nil {
		return err
	}
	if missing := p.missing(); len(missing) > 0 {
		return unknownCallee(missing[0])
	}
	if err := p.budget.End(r); err != nil {
		return err
	}
	if err := p.head(); err != nil {
		return err
	}
	if err := p.eachUnit(p.unit); err != nil {
		return err
	}
	return p.finish()
}

// PrintUnit writes the symbols of one unit of r as a complete text. The summary is that of the
// whole profile. The list of file names contains those needed, renumbered. Callees in other units
// that are not inlined anywhere in the text follow the unit's own symbols, as symbols without
// samples (format note 21). Symbol IDs are those of the file. Otherwise it works like [Print]. It
// reads the unit and the names of the units that it refers to.
func PrintUnit(w io.Writer, r *afdo.Reader, u *afdo.Unit) error {
	if err := u.Load(); err != nil {
		return err
	}
	return printPart(w, r, u, u.Symbols())
}

// PrintSymbol writes one symbol of r and its callees, like [PrintUnit]. It does not read samples of
// other symbols.
func PrintSymbol(w io.Writer, r *afdo.Reader, s afdo.Symbol) error {
	return printPart(w, r, s.Unit(), func(yield func(afdo.Symbol, error) bool) { yield(s, nil) })
}

// printPart writes some symbols of a unit, and those of their callees that need a header.
func printPart(w io.Writer, r *afdo.Reader, u *afdo.Unit, symbols iter.Seq2[afdo.Symbol, error]) error {
	p := newPrinter(w, r)
	if err := eachSymbol(symbols, p.survey); err != nil {
		return err
	}
	others, err := p.addOthers(u)
	if err != nil {
		return err
	}
	if err := eachSymbol(symbols, func(s afdo.Symbol) error { p.name(s); return nil }); err != nil {
		return err
	}
	if err := p.head(); err != nil {
		return err
	}
	if err := eachSymbol(symbols, p.symbol); err != nil {
		return err
	}
	for _, s := range others {
		p.withoutInfo(s)
	}
	return p.finish()
}

// A printer writes functions of a version 4 file as text. It passes their symbol IDs in the file to
// its emitter, in the type SymbolRef.
type printer struct {
	emitter
	reader *afdo.Reader
	budget *budget.Budget
	paths  []string       // by file ID
	files  map[string]int // file IDs by path

	ids     wire.IDTable // indexes in notes by symbol ID
	notes   []symbolNote // of the symbols that are printed or referred to
	cursor  afdo.Cursor
	records []profile.Record // of the current function
	open    int              // number of inlined bodies in records that are not complete
	inner   int              // index of the record of the innermost open body; its Count is the index for the enclosing one
}

func newPrinter(w io.Writer, r *afdo.Reader) *printer {
	p := &printer{
		reader: r,
		budget: budget.New(r.Size()),
		files:  map[string]int{"": -1},
	}
	p.emitter = newEmitter(&boundedWriter{w: w, left: maxText(r.Size())}, p)
	return p
}

// eachUnit loads the units of the file one after another and calls do for each.
func (p *printer) eachUnit(do func(*afdo.Unit) error) error {
	for u, err := range p.reader.Units() {
		if err == nil {
			err = u.Load()
		}
		if err == nil {
			err = do(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) surveyUnit(u *afdo.Unit) error {
	if err := p.addFile(u.Path()); err != nil {
		return err
	}
	return eachSymbol(u.Symbols(), func(s afdo.Symbol) error {
		p.name(s)
		return p.survey(s)
	})
}

// addFile assigns the next file ID to a path. Units with the same path, which a malformed file may
// have, share the ID.
func (p *printer) addFile(path string) error {
	if _, ok := p.files[path]; !ok {
		p.files[path] = len(p.paths)
		p.paths = append(p.paths, path)
	}
	return checkName(path)
}

// addOthers prepares the text of some symbols of unit u. It adds the source files that the text
// names, and the names of called symbols in other units, so that each is looked up once. It returns
// those called symbols for which the text would otherwise have no header, in the order of the
// units.
func (p *printer) addOthers(u *afdo.Unit) ([]afdo.Symbol, error) {
	units := []*afdo.Unit{u}
	var others []afdo.Symbol
	callees, err := p.symbolsOf(p.missing())
	if err != nil {
		return nil, err
	}
	for _, s := range callees {
		if err := checkName(s.Name()); err != nil {
			return nil, err
		}
		units = append(units, s.Unit())
		if !p.note(s.ID()).inlined {
			others = append(others, s)
		}
	}
	byIndex := func(a, b *afdo.Unit) int { return cmp.Compare(a.Index(), b.Index()) }
	slices.SortFunc(units, byIndex)
	for _, u := range units {
		if err := p.addFile(u.Path()); err != nil {
			return nil, err
		}
	}
	for _, s := range callees {
		p.name(s)
	}
	slices.SortStableFunc(others, func(a, b afdo.Symbol) int { return byIndex(a.Unit(), b.Unit()) })
	return others, nil
}

func (p *printer) symbolsOf(callees []afdo.SymbolID) ([]afdo.Symbol, error) {
	symbols, err := p.reader.SymbolsByID(callees)
	if !errors.Is(err, fault.ErrNotFound) {
		return symbols, err
	}
	for _, id := range callees { // find the missing one
		if _, err := p.callee(id); err != nil {
			return nil, err
		}
	}
	return nil, err
}

func (p *printer) callee(id afdo.SymbolID) (afdo.Symbol, error) {
	s, err := p.reader.SymbolByID(id)
	if errors.Is(err, fault.ErrNotFound) {
		return s, unknownCallee(id)
	}
	return s, err
}

func (p *printer) head() error {
	summary, err := p.reader.Summary()
	if err != nil {
		return err
	}
	p.filenames(p.paths)
	p.emitter.summary(summary)
	return nil
}

func (p *printer) unit(u *afdo.Unit) error { return eachSymbol(u.Symbols(), p.symbol) }

// eachSymbol calls do for each symbol, until do or symbols returns an error.
func eachSymbol(symbols iter.Seq2[afdo.Symbol, error], do func(afdo.Symbol) error) error {
	for s, err := range symbols {
		if err != nil {
			return err
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// symbol writes a symbol, unless it has no samples and the header of an inlined function names it.
func (p *printer) symbol(s afdo.Symbol) error {
	if !s.HasInfo() {
		if !p.note(s.ID()).inlined {
			p.withoutInfo(s)
		}
		return p.err
	}
	info, err := s.Info()
	if err == nil {
		err = p.flatten(info)
	}
	if err != nil {
		return inSymbol(s, err)
	}
	p.function(s, profile.Function{HeadCount: info.HeadCount, Timestamp: info.Timestamp, Records: p.records})
	return p.err
}

func (p *printer) withoutInfo(s afdo.Symbol) { p.function(s, profile.Function{}) }

func (p *printer) function(s afdo.Symbol, f profile.Function) {
	p.emitter.symbol(profile.SymbolRef(s.ID()), f)
}

// flatten converts all records of a function to one slice, in which nested bodies can be skipped.
// The file does not store the length of a body.
func (p *printer) flatten(info afdo.Info) error {
	p.records, p.open = p.records[:0], 0
	c := &p.cursor
	c.Reset(info)
	for c.Next() {
		p.close(c.Depth())
		l := c.Location()
		r := profile.Record{Line: l.Line, Discriminator: l.Discriminator, Count: l.Count}
		switch l.Type {
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			r.Kind = profile.KindCall
			for t := range c.Targets() {
				r.Callee, r.Count = profile.SymbolRef(t.Callee), t.Count
				p.records = append(p.records, r)
			}
			continue
		case afdo.LocationInlinedFn:
			r.Kind, r.Callee, r.Count = profile.KindInlined, profile.SymbolRef(l.Callee), uint64(p.inner)
			p.open++
			p.inner = len(p.records)
		}
		p.records = append(p.records, r)
	}
	p.close(0)
	return c.Err()
}

// close completes the inlined bodies deeper than depth: it stores their lengths in the records that
// begin them.
func (p *printer) close(depth int) {
	for ; p.open > depth; p.open-- {
		head := &p.records[p.inner]
		nested := len(p.records) - p.inner - 1
		p.inner = int(head.Count)
		head.Count = uint64(nested)
	}
}

func (p *printer) id(ref profile.SymbolRef) uint32 { return uint32(ref) }

func (p *printer) header(ref profile.SymbolRef) (name string, file int, err error) {
	n := p.note(afdo.SymbolID(ref))
	if !n.named {
		return "", 0, unknownCallee(n.id)
	}
	return n.name, n.file, nil
}

// name stores the name and the file ID of a symbol, for the header that the text will have.
func (p *printer) name(s afdo.Symbol) {
	n := p.note(s.ID())
	n.name, n.file, n.named = s.Name(), p.files[s.Unit().Path()], true
}

// inSymbol adds the unit and the name of a symbol to an error.
func inSymbol(s afdo.Symbol, err error) error {
	return fmt.Errorf("textfmt: unit %.200q, symbol %.200q: %w", s.Unit().Path(), s.Name(), err)
}

func unknownCallee(id afdo.SymbolID) error {
	return fmt.Errorf("textfmt: %w: no unit has the callee's symbol ID %d: %w", fault.ErrMalformed, id, fault.ErrSymbol)
}

// Limits on the size of a text. They affect files whose symbols share the bytes of one function, or
// whose tries spell the same bytes repeatedly.
const (
	textFree         = 1 << 30
	textBytesPerByte = 1 << 10 // 10 to 20 in real files; hundreds for a single deeply inlined body, because of indentation and names
)

// maxText returns the maximum size of the text for a file of the given size.
func maxText(size int64) int64 {
	return textFree + textBytesPerByte*min(size, (math.MaxInt64-textFree)/textBytesPerByte)
}

// A symbolNote holds what the printer knows of a symbol before it prints the first function.
type symbolNote struct {
	id      afdo.SymbolID
	name    string
	file    int  // file ID
	named   bool // name and file are set
	printed bool // the symbol is one of those to print
	called  bool // one of those calls it, or has it inlined
	inlined bool // one of those has it inlined
}

// note returns what the printer knows about the symbol with an ID. It adds a symbolNote with only
// the ID if there is none. The result is valid until the next call.
func (p *printer) note(id afdo.SymbolID) *symbolNote {
	i, ok := p.ids.Find(uint32(id))
	if !ok {
		i = uint32(len(p.notes))
		p.ids.Add(uint32(id), i)
		p.notes = append(p.notes, symbolNote{id: id})
	}
	return &p.notes[i]
}

// survey checks a symbol that will be printed: its name, its samples and the size of the text so
// far. It notes the symbols that the function calls or has inlined.
func (p *printer) survey(s afdo.Symbol) error {
	if err := checkName(s.Name()); err != nil {
		return err
	}
	if err := p.budget.Name(s.Name()); err != nil {
		return fmt.Errorf("textfmt: %w", err)
	}
	p.note(s.ID()).printed = true
	if !s.HasInfo() {
		return nil
	}
	info, err := s.Info()
	if err == nil {
		err = p.budget.Samples(info)
	}
	if err == nil {
		err = p.surveyInfo(info)
	}
	if err != nil {
		return inSymbol(s, err)
	}
	return nil
}

func (p *printer) surveyInfo(info afdo.Info) error {
	c := &p.cursor
	c.Reset(info)
	for c.Next() {
		if l := c.Location(); l.Type == afdo.LocationInlinedFn {
			n := p.note(l.Callee)
			n.called, n.inlined = true, true
		}
		for t := range c.Targets() {
			p.note(t.Callee).called = true
		}
	}
	return c.Err()
}

// missing returns the callees that are not among the printed symbols, in ascending order.
func (p *printer) missing() []afdo.SymbolID {
	var ids []afdo.SymbolID
	for i := range p.notes {
		if n := &p.notes[i]; n.called && !n.printed {
			ids = append(ids, n.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// A boundedWriter fails if more than a given number of bytes is written to it.
type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("textfmt: the text is too long for a file of its size: %w", fault.ErrLimit)
	}
	return b.w.Write(p)
}
