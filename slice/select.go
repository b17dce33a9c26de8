package slice

import (
	"errors"
	"fmt"
	"path"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/profile"
)

// A Target says which compiler a slice is for, by the version of the format that it reads.
type Target uint8

// The targets. What a slice for one of them leaves out, that compiler does not see.
const (
	Version2 Target = 2 // GCC 12 to 15
	Version3 Target = 3 // GCC 16, and whatever reads version 4
)

// A Request says what a slice is to hold.
type Request struct {
	// Units are the paths of units as they stand in the profile: the source files
	// of the compile and the headers they include, see [Program.Match]. Paths that the profile does
	// not have are passed over.
	Units []string

	// Defined are the unqualified names of functions that those files define,
	// see [Definitions]; there may be others among them.
	Defined []string

	// Complete says that Units are all files of the compile which the profile
	// knows, and Defined what all of its files define.
	Complete bool

	Target Target

	// Bits, unless 0, is to how many significant bits counts are rounded.
	Bits int
}

// Select takes a slice. It has the functions of the units, the symbols whose
// file is unknown, what shares a name with one of those in one of the ways in
// which the compiler looks names up, and for [Version3] what was inlined of those functions in
// other units. Its summary is the whole profile's, computed if that has none.
//
// Functions of other units may have a body in these files, too: profilers do
// not agree on the file of a template. Those are the ones that the units' functions call or
// inline and that q.Defined has, and, unless q is complete, all that they inline.
//
// A slice of no unit is a valid profile, too. Errors are those of reading the
// profile; one that refers to a symbol which it does not have is [afdo.ErrMalformed].
//
// The first call on a Program goes through all of its names, and the first one
// for Version3 through all records.
func (p *Program) Select(q Request) (*profile.Profile, error) {
	s, err := p.choose(q)
	if err != nil {
		return nil, err
	}
	return s.profile(q)
}

// choose chooses the symbols and functions of a slice.
func (p *Program) choose(q Request) (*selection, error) {
	s := newSelection(p, q)
	if err := s.addUnits(q.Units); err != nil {
		return nil, err
	}
	if err := s.addDefined(q.Defined); err != nil {
		return nil, err
	}
	if err := s.closeOwn(); err != nil {
		return nil, err
	}
	if q.Target != Version2 {
		if err := s.addCallers(); err != nil {
			return nil, err
		}
	}
	return s, s.addNames()
}

// A selection is a slice that is being chosen.
type selection struct {
	source  source
	index   index
	scratch scratch

	units   []int
	symbols []symbol // first those that may have a body in the units, then the names of others
	callers []symbol // the functions of other units that the slice has in part
	samples map[symbolID]profile.Function

	defined  map[string]struct{}
	complete bool

	own       idSet // symbols that may have a body in the units
	followed  idSet // those of them whose callees have been looked at
	undefined idSet // callees that the files do not define
	queue     []queued
	names     idSet               // symbols that are not own
	cuts      map[string]struct{} // the canonical names of names
}

func newSelection(p *Program, q Request) *selection {
	s := &selection{
		source:  p.source,
		index:   p.index,
		samples: make(map[symbolID]profile.Function),
		cuts:    make(map[string]struct{}),

		defined:  make(map[string]struct{}, len(q.Defined)),
		complete: q.Complete,
	}
	for _, name := range q.Defined {
		s.defined[name] = struct{}{}
	}
	return s
}

// A queued symbol is one of own whose surroundings are still to be seen.
type queued struct {
	symbol
	follow bool
}

// addUnits makes the symbols of the units and of the unknown-file unit its own.
//
// The callees of the units' functions may have a body there, too, and are
// followed for that. Symbols of unknown files are anybody's, and are not.
func (s *selection) addUnits(paths []string) error {
	wanted := make(map[string]struct{}, len(paths))
	for _, path := range paths {
		wanted[path] = struct{}{}
	}
	for unit := range s.source.numUnits() {
		path := s.source.path(unit)
		known := path != ""
		if _, ok := wanted[path]; known && !ok {
			continue
		}
		s.units = append(s.units, unit)
		for sym, err := range s.source.symbols(unit) {
			if err != nil {
				return err
			}
			s.push(sym, known)
		}
	}
	return nil
}

// addDefined adds the functions that one defined by the sources may be taken for.
func (s *selection) addDefined(names []string) error {
	for _, name := range names {
		err := s.index.byUnqualifiedName(name, func(sym symbol) { s.push(sym, false) })
		if err != nil {
			return err
		}
	}
	return nil
}

// push makes a symbol the slice's own, and has it followed if it is not yet.
func (s *selection) push(sym symbol, follow bool) {
	fresh := s.own.add(sym.id)
	if fresh {
		s.symbols = append(s.symbols, sym)
	}
	if follow {
		follow = s.followed.add(sym.id)
	}
	if fresh || follow {
		s.queue = append(s.queue, queued{sym, follow})
	}
}

// closeOwn adds to what the slice owns until nothing is left to add.
func (s *selection) closeOwn() error {
	for len(s.queue) > 0 {
		sym := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if err := s.addNamesakes(sym.symbol); err != nil {
			return err
		}
		if sym.follow && sym.info {
			if err := s.addCallees(sym.symbol); err != nil {
				return err
			}
		}
	}
	return nil
}

// addNamesakes adds the symbols that the compiler may take for one of the slice's own.
func (s *selection) addNamesakes(sym symbol) error {
	add := func(other symbol) { s.push(other, false) }
	if err := s.index.byCanonical(canonical.Name(sym.name), add); err != nil {
		return err
	}
	if !isMangled(sym.name) {
		return s.index.byUnqualifiedName(unqualified(sym.name), add)
	}
	may, err := s.index.mayMatch(sym.name)
	if err != nil || !may {
		return err
	}
	name := unqualified(sym.name)
	if name == "" {
		return nil
	}
	return s.index.byUnqualifiedName(name, func(other symbol) {
		if !isMangled(other.name) {
			add(other)
		}
	})
}

// addCallees adds the functions that one of the units' calls or inlines and
// that may have a body beside it.
func (s *selection) addCallees(sym symbol) error {
	f, err := s.read(sym)
	if err != nil {
		return err
	}
	for i := range f.Records {
		r := &f.Records[i]
		id := symbolID(r.Callee)
		if r.Kind == profile.KindCount || s.followed.has(id) {
			continue
		}
		inlined := r.Kind == profile.KindInlined && !s.complete
		if !inlined && (len(s.defined) == 0 || s.undefined.has(id)) {
			continue
		}
		callee, err := s.callee(id)
		if err != nil {
			return err
		}
		if !inlined && !s.defines(callee.name) {
			s.undefined.add(id)
			continue
		}
		s.push(callee, true)
	}
	return nil
}

// defines tells whether the units' files may define a function.
func (s *selection) defines(name string) bool {
	_, ok := s.defined[unqualified(name)]
	return ok
}

// read returns the samples of a symbol that has them.
func (s *selection) read(sym symbol) (profile.Function, error) {
	if f, ok := s.samples[sym.id]; ok {
		return f, nil
	}
	f, err := s.source.function(sym, &s.scratch)
	if err == nil && (f.HeadCount > 0 || f.Timestamp > 0 || len(f.Records) > 0) { // format note 12
		s.samples[sym.id] = f
	}
	return f, err
}

// callee returns the symbol that a record refers to.
func (s *selection) callee(id symbolID) (symbol, error) {
	sym, err := s.source.symbol(id)
	if errors.Is(err, afdo.ErrNotFound) {
		err = fmt.Errorf("%w, to which a record refers: %w", err, afdo.ErrMalformed)
	}
	return sym, err
}

// addCallers adds the functions of other units into which the slice's own were inlined.
func (s *selection) addCallers() error {
	own := make([]symbolID, len(s.symbols))
	for i, sym := range s.symbols {
		own[i] = sym.id
	}
	err := s.index.inlinedInto(own, func(caller symbol) {
		if !s.own.has(caller.id) {
			s.callers = append(s.callers, caller)
		}
	})
	if err != nil {
		return err
	}
	for _, sym := range s.callers {
		f, err := s.read(sym)
		if err != nil {
			return err
		}
		f.Records = s.prune(f.Records)
		s.samples[sym.id] = f
		s.addName(sym)
	}
	return nil
}

// prune returns what the slice has of the samples of another unit's function:
// the bodies of its own functions inlined there, whole, and the way to each.
// The compiler moves those bodies back to their functions and drops the rest.
func (s *selection) prune(records []profile.Record) []profile.Record {
	var kept []profile.Record
	var way []openBody
	for at := 0; ; {
		for len(way) > 0 && at == way[len(way)-1].end {
			head := way[len(way)-1].head
			way = way[:len(way)-1]
			if inside := len(kept) - head - 1; inside > 0 {
				kept[head].Count = uint64(inside)
			} else {
				kept = kept[:head]
			}
		}
		if at == len(records) {
			return kept
		}
		r := records[at]
		if r.Kind != profile.KindInlined {
			at++
			continue
		}
		end := at + 1 + int(r.Count)
		if s.own.has(symbolID(r.Callee)) {
			kept = append(kept, records[at:end]...)
			at = end
			continue
		}
		way = append(way, openBody{head: len(kept), end: end})
		kept = append(kept, r)
		at++
	}
}

// An openBody is an inlined body on the way that prune goes.
type openBody struct {
	head int // its first record, among those kept
	end  int // where it ends, among all
}

// addNames reads the samples and adds every name that shows in them, and what
// shares one with it: a name alone changes what the compiler finds.
func (s *selection) addNames() error {
	own := len(s.symbols) - len(s.callers)
	for _, sym := range s.symbols[:own:own] {
		if !sym.info {
			continue
		}
		f, err := s.read(sym)
		if err != nil {
			return err
		}
		if err := s.addNamesIn(f.Records); err != nil {
			return err
		}
	}
	for _, sym := range s.callers {
		if err := s.addNamesIn(s.samples[sym.id].Records); err != nil {
			return err
		}
	}
	for _, sym := range s.symbols[own:len(s.symbols):len(s.symbols)] {
		// What this adds brings no further ones: it shares the canonical name, or is mangled.
		if err := s.addNamesOf(sym); err != nil {
			return err
		}
	}
	return nil
}

// addNamesIn adds the callees of records.
func (s *selection) addNamesIn(records []profile.Record) error {
	for i := range records {
		r := &records[i]
		id := symbolID(r.Callee)
		if r.Kind == profile.KindCount || s.own.has(id) || s.names.has(id) {
			continue
		}
		sym, err := s.callee(id)
		if err != nil {
			return err
		}
		s.addName(sym)
	}
	return nil
}

// addName adds a symbol without its samples, unless it is the slice's own.
func (s *selection) addName(sym symbol) {
	if !s.own.has(sym.id) && s.names.add(sym.id) {
		s.symbols = append(s.symbols, sym)
	}
}

// addNamesOf adds the names that share one with a name.
func (s *selection) addNamesOf(sym symbol) error {
	cut := canonical.Name(sym.name)
	if _, ok := s.cuts[cut]; ok {
		return nil
	}
	s.cuts[cut] = struct{}{}
	if err := s.index.byCanonical(cut, s.addName); err != nil {
		return err
	}
	if isMangled(cut) {
		return nil
	}
	return s.index.byUnqualifiedName(unqualified(cut), s.addName)
}

// profile makes a profile of the slice.
func (s *selection) profile(q Request) (*profile.Profile, error) {
	p := profile.New()
	summary, err := s.source.summary()
	if err != nil {
		return nil, err
	}
	p.Summary = quantizeSummary(summary, q.Bits)
	for _, name := range s.files() {
		p.AddFile(name)
	}
	refs := make(map[symbolID]profile.SymbolRef, len(s.symbols))
	for _, sym := range s.symbols {
		refs[sym.id] = p.AddSymbol(p.AddFile(s.source.path(sym.unit)), sym.name)
	}
	var body profile.Body
	for _, sym := range s.symbols {
		f, ok := s.samples[sym.id]
		if !ok {
			continue
		}
		body.Reset()
		translate(&body, f.Records, refs, q.Bits)
		p.AddFunction(refs[sym.id], profile.Function{
			HeadCount: quantize(f.HeadCount, q.Bits),
			Timestamp: f.Timestamp,
			Records:   body.Records(),
		})
	}
	return p, nil
}

// files returns the units and the files of the symbols, and each file whose last path
// element is that of one of them: GCC 16 looks at no more of a path, and the last file wins.
func (s *selection) files() []string {
	bases := make(map[string]struct{})
	for _, sym := range s.symbols {
		bases[path.Base(s.source.path(sym.unit))] = struct{}{}
	}
	for _, unit := range s.units {
		bases[path.Base(s.source.path(unit))] = struct{}{}
	}
	var files []string
	for unit := range s.source.numUnits() {
		name := s.source.path(unit)
		if _, ok := bases[path.Base(name)]; ok && name != "" {
			files = append(files, name)
		}
	}
	return files
}

// translate adds records to a body, with other symbols and rounded counts.
func translate(body *profile.Body, records []profile.Record, refs map[symbolID]profile.SymbolRef, bits int) {
	open := 0
	w := profile.Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		for ; open > depth; open-- {
			body.Leave()
		}
		switch r.Kind {
		case profile.KindCount:
			body.Count(r.Line, r.Discriminator, quantize(r.Count, bits))
		case profile.KindCall:
			body.Call(r.Line, r.Discriminator, refs[symbolID(r.Callee)], quantize(r.Count, bits))
		case profile.KindInlined:
			body.Enter(r.Line, r.Discriminator, refs[symbolID(r.Callee)])
			open++
		}
	}
	for ; open > 0; open-- {
		body.Leave()
	}
}
