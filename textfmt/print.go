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
	if missing := p.survey.missing(); len(missing) > 0 {
		return unknownCallee(missing[0])
	}
	if err := p.survey.budget.End(r); err != nil {
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
	if err := eachSymbol(symbols, p.survey.symbol); err != nil {
		return err
	}
	others, err := p.addOthers(u)
	if err != nil {
		return err
	}
	if err := p.nameAll(symbols); err != nil {
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

// printer writes functions of a file. The SymbolRefs of its emitter are symbol IDs of the file.
type printer struct {
	emitter
	reader *afdo.Reader
	survey *survey
	paths  []string       // by file ID
	files  map[string]int // file IDs by path

	ids     idTable // indexes in headers of the symbols that are printed or referred to
	headers []header
	cursor  afdo.Cursor
	records []profile.Record // of the current function
	open    int              // number of inlined bodies in records that are not complete
	inner   int              // index of the record of the innermost open body; its Count is the index for the enclosing one
}

type header struct {
	name string
	file int
}

func newPrinter(w io.Writer, r *afdo.Reader) *printer {
	p := &printer{
		reader: r,
		survey: newSurvey(r.Size()),
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
	if err := eachSymbol(u.Symbols(), p.survey.symbol); err != nil {
		return err
	}
	return p.nameAll(u.Symbols())
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

// addOthers adds the files needed for a part of unit u, and the names of its callees in other
// units, so that each is looked up once. It returns the callees that would otherwise have no
// header, in the order of the units.
func (p *printer) addOthers(u *afdo.Unit) ([]afdo.Symbol, error) {
	units := []*afdo.Unit{u}
	var others []afdo.Symbol
	callees, err := p.symbolsOf(p.survey.missing())
	if err != nil {
		return nil, err
	}
	for _, s := range callees {
		if err := checkName(s.Name()); err != nil {
			return nil, err
		}
		units = append(units, s.Unit())
		if !p.survey.inlined.has(s.ID()) {
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
		if !p.survey.inlined.has(s.ID()) {
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
	i, ok := p.ids.find(uint32(ref))
	if !ok {
		return "", 0, unknownCallee(afdo.SymbolID(ref))
	}
	h := &p.headers[i]
	return h.name, h.file, nil
}

// nameAll stores the name and the file ID of each symbol.
func (p *printer) nameAll(symbols iter.Seq2[afdo.Symbol, error]) error {
	for s, err := range symbols {
		if err != nil {
			return err
		}
		p.name(s)
	}
	return nil
}

// name adds a symbol to p.headers, which has the name and the number of the file for each header of
// a function that will be printed. It does nothing if the symbol is already there.
func (p *printer) name(s afdo.Symbol) {
	if _, ok := p.ids.find(uint32(s.ID())); ok {
		return
	}
	p.ids.add(uint32(s.ID()), uint32(len(p.headers)))
	p.headers = append(p.headers, header{s.Name(), p.files[s.Unit().Path()]})
}

// inSymbol adds the unit and the name of a symbol to an error.
func inSymbol(s afdo.Symbol, err error) error {
	return fmt.Errorf("textfmt: unit %.200q, symbol %.200q: %w", s.Unit().Path(), s.Name(), err)
}

func unknownCallee(id afdo.SymbolID) error {
	return fmt.Errorf("textfmt: %w: no unit has the callee's symbol ID %d: %w", fault.ErrMalformed, id, fault.ErrSymbol)
}

// A survey collects what the printer has to know about all functions before it prints the first.
type survey struct {
	printed idSet // symbols that have been surveyed
	callees idSet // symbols that are called or inlined
	inlined idSet
	cursor  afdo.Cursor
	records int64 // limit on the records and call targets still to come
	names   int64 // limit on the bytes of names still to come
	budget  *budget.Budget
}

// Limits on the size of a text. They affect files whose symbols share the bytes of one function, or
// whose tries spell the same bytes repeatedly.
const (
	minRecordSize    = 2 // size of the smallest record or call target
	textFree         = 1 << 30
	textBytesPerByte = 1 << 10 // 10 to 20 in real files; hundreds for a single deeply inlined body, because of indentation and names
)

// maxText returns the maximum size of the text for a file of the given size.
func maxText(size int64) int64 {
	return textFree + textBytesPerByte*min(size, (math.MaxInt64-textFree)/textBytesPerByte)
}

func newSurvey(size int64) *survey {
	return &survey{
		printed: make(idSet),
		callees: make(idSet),
		inlined: make(idSet),
		records: size / minRecordSize,
		names:   maxText(size),
		budget:  budget.New(size),
	}
}

func (s *survey) symbol(symbol afdo.Symbol) error {
	if err := checkName(symbol.Name()); err != nil {
		return err
	}
	if s.names -= int64(len(symbol.Name())); s.names < 0 {
		return fmt.Errorf("textfmt: the names of the symbols are too long: %w", fault.ErrLimit)
	}
	s.printed.add(symbol.ID())
	if !symbol.HasInfo() {
		return nil
	}
	info, err := symbol.Info()
	if err == nil {
		err = s.budget.Samples(info)
	}
	if err == nil {
		err = s.function(info)
	}
	if err != nil {
		return inSymbol(symbol, err)
	}
	return nil
}

func (s *survey) function(info afdo.Info) error {
	c := &s.cursor
	c.Reset(info)
	for c.Next() {
		s.records--
		if l := c.Location(); l.Type == afdo.LocationInlinedFn {
			s.callees.add(l.Callee)
			s.inlined.add(l.Callee)
		}
		for t := range c.Targets() {
			s.records--
			s.callees.add(t.Callee)
		}
		if s.records < 0 {
			return fmt.Errorf("more records than the file has room for: %w", fault.ErrLimit)
		}
	}
	return c.Err()
}

// missing returns the callees that are not among the printed symbols, in ascending order.
func (s *survey) missing() []afdo.SymbolID {
	var ids []afdo.SymbolID
	for word, callees := range s.callees {
		for i := range afdo.SymbolID(64) {
			if (callees&^s.printed[word])>>i&1 != 0 {
				ids = append(ids, word<<6|i)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// An idSet is a set of symbol IDs, stored as 64 bits per map entry. IDs are usually close together
// (format note 9), but may be anywhere.
type idSet map[afdo.SymbolID]uint64

func (s idSet) has(id afdo.SymbolID) bool { return s[id>>6]>>(id&63)&1 != 0 }

func (s idSet) add(id afdo.SymbolID) {
	if !s.has(id) {
		s[id>>6] |= 1 << (id & 63)
	}
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

// An idTable maps symbol IDs to numbers. IDs are usually close together, starting with 0 (format
// note 9), but may be anywhere. IDs that are small compared to their number have a slot in an
// array; others are in a map.
type idTable struct {
	dense  []uint32 // numbers by ID, plus 1; 0 for none
	sparse map[uint32]uint32
	len    int
}

// Maximum number of array slots per ID, and initial number of slots.
const (
	denseShare = 8
	firstDense = 1 << 10
)

// find returns the number that add has stored for an ID.
func (t *idTable) find(id uint32) (number uint32, ok bool) {
	if uint64(id) < uint64(len(t.dense)) {
		n := t.dense[id]
		return n - 1, n > 0
	}
	n, ok := t.sparse[id]
	return n, ok
}

// add stores a number for an ID that has none.
func (t *idTable) add(id, number uint32) {
	if t.len++; denseShare*t.len >= 2*len(t.dense) {
		t.grow()
	}
	if uint64(id) < uint64(len(t.dense)) {
		t.dense[id] = number + 1
		return
	}
	if t.sparse == nil {
		t.sparse = make(map[uint32]uint32)
	}
	t.sparse[id] = number
}

// grow enlarges the array, and moves IDs from the map to it.
func (t *idTable) grow() {
	t.dense = append(t.dense, make([]uint32, max(len(t.dense), firstDense))...)
	for id, number := range t.sparse {
		if uint64(id) < uint64(len(t.dense)) {
			t.dense[id] = number + 1
			delete(t.sparse, id)
		}
	}
}

// each calls do for every ID, in no particular order.
func (t *idTable) each(do func(id, number uint32)) {
	for id, n := range t.dense {
		if n > 0 {
			do(uint32(id), n-1)
		}
	}
	for id, number := range t.sparse {
		do(id, number)
	}
}
