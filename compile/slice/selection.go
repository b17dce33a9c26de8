package slice

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A selection collects the content of a slice of a profile. It distinguishes two kinds of symbols.
// The slice's own symbols are functions that the compile may define, with their samples. The other
// symbols are only names, which affect how the compiler finds the own symbols.
type selection struct {
	*program.Program
	common  *commonNames // nil if names are looked up again for each text
	text    *Text        // the text that the compile reads, nil if unknown
	scratch program.Scratch

	units   []int
	symbols []program.Symbol // symbols of the slice: first its own ones, then others
	callers []program.Symbol // functions of other units of which the slice has inlined bodies
	samples map[program.ID]profile.Function

	own      program.IDSet // the slice's own symbols
	followed program.IDSet // own symbols whose inlined callees have been added
	queue    []queued
	names    program.IDSet       // the other symbols
	referred program.IDSet       // symbols to which records of the slice refer
	cuts     map[string]bool     // canonical names whose symbols have been added
	keys     map[string]searched // unqualified names whose symbols have been added
}

// newSelection returns a selection, still empty, of the functions of a profile that one compile
// needs. t is the text of the source files that the compile reads.
func newSelection(p *Program, t *Text) *selection {
	return &selection{
		Program: p.whole,
		common:  p.common,
		text:    t,
		samples: make(map[program.ID]profile.Function),
		cuts:    make(map[string]bool),
		keys:    make(map[string]searched),
	}
}

// A queued is a symbol of the slice in the queue of [selection.closeOwn]. If follow is true,
// closeOwn also adds the functions that are inlined in the symbol to the slice.
type queued struct {
	program.Symbol
	follow bool
}

// addUnits adds all symbols of the requested units to the slice, as symbols that the compile may
// define.
//
// If the text of the compile is unknown, it also adds the symbols whose file is unknown, and lets
// closeOwn add the functions that the units' functions inline.
func (s *selection) addUnits(q Request) error {
	for _, path := range q.Units {
		if path != "" {
			s.units = append(s.units, s.ByPath()[path]...)
		}
	}
	if q.Text == nil {
		s.units = append(s.units, s.ByPath()[""]...)
	}
	slices.Sort(s.units)
	s.units = slices.Compact(s.units)
	for _, unit := range s.units {
		for sym, err := range s.Store.Symbols(unit) {
			if err != nil {
				return err
			}
			s.push(sym, q.Text == nil && s.Store.Path(unit) != "")
		}
	}
	return nil
}

// addText adds the functions that the text of the compile may define to the slice. If renamed is
// true, a function may have the inline namespaces of an older version of the text.
func (s *selection) addText(renamed bool) error {
	add := func(sym program.Symbol) {
		if s.own.Add(sym.ID) {
			s.symbols = append(s.symbols, sym)
		}
	}
	renamed = renamed && !s.text.anyScope && len(s.text.inlines) > 0
	names := s.text.names()
	if s.common != nil {
		var err error
		if names, err = s.common.in(s.text, names, renamed, s.Index, add); err != nil {
			return err
		}
	}
	mayDefine := s.text.mayDefine
	if renamed {
		mayDefine = func(symbol string) bool { return s.text.mayDefine(symbol) || s.text.mayDefineRenamed(symbol) }
	}
	return s.Index.ByKeys(names, mayDefine, add)
}

// addGone adds functions to the slice that an edit may have removed or renamed: the functions of
// edited units whose names are not in the text of the compile any more, see [Request.Gone].
func (s *selection) addGone(q Request) error {
	if q.Edited == nil {
		return nil
	}
	for unit := range s.Store.NumUnits() {
		path := s.Store.Path(unit)
		sum, ok, err := s.Store.UnitSum(unit)
		if err != nil {
			return err
		}
		if !ok || sum == 0 || path == "" || !q.Edited(path, sum) {
			continue
		}
		for sym, err := range s.Store.Symbols(unit) {
			if err != nil {
				return err
			}
			gone, err := s.isGone(sym)
			if err != nil {
				return err
			}
			if gone && s.own.Add(sym.ID) {
				s.symbols = append(s.symbols, sym)
				q.Gone(path, sym.Name)
			}
		}
	}
	return nil
}

// isGone reports whether an edit may have removed or renamed a function: the profile has marks of
// its source lines, and the text of the compile has no function of its name.
func (s *selection) isGone(sym program.Symbol) (bool, error) {
	name := s.Index.KeyOf(symname.Canonical(sym.Name))
	if !sym.HasInfo || name == "" || name == cxx.OddKey || slices.Contains(implicitNames, name) || s.text.defines(name) {
		return false, nil
	}
	marks, err := s.Store.Marks(sym)
	return len(marks) > 0, err
}

// push adds a symbol to the functions that the compile may define, and to the queue of
// [selection.closeOwn]. If follow is true, closeOwn also adds the functions that are inlined in the
// symbol.
func (s *selection) push(sym program.Symbol, follow bool) {
	fresh := s.own.Add(sym.ID)
	if fresh {
		s.symbols = append(s.symbols, sym)
	}
	if follow {
		follow = s.followed.Add(sym.ID)
	}
	if fresh || follow {
		s.queue = append(s.queue, queued{sym, follow})
	}
}

// closeOwn completes the set of the functions that the compile may define. For each symbol of the
// queue, it adds the symbols to the slice that the compiler may confuse with this symbol. If follow
// is set for the symbol, it also adds the functions that are inlined in it. closeOwn returns when
// the queue is empty.
func (s *selection) closeOwn() error {
	for len(s.queue) > 0 {
		sym := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if err := s.addNamesakes(sym.Symbol); err != nil {
			return err
		}
		if sym.follow && sym.HasInfo {
			if err := s.addCallees(sym.Symbol); err != nil {
				return err
			}
		}
	}
	return nil
}

// addNamesakes adds the symbols to the slice that the compiler may confuse with the symbol sym,
// because they share a name with it.
func (s *selection) addNamesakes(sym program.Symbol) error {
	cut := symname.Canonical(sym.Name)
	if s.cuts[cut] {
		return nil
	}
	s.cuts[cut] = true
	own := func(other program.Symbol) { s.push(other, false) }
	if err := s.Index.ByCanonical(cut, own); err != nil {
		return err
	}
	return s.addUnqualified(cut, own)
}

// addUnqualified calls add for the symbols of the profile that the compiler may confuse with a
// symbol, because their unqualified names are equal. cut is the canonical name of the symbol. If
// cut is mangled, these are symbols whose names are not mangled. If cut is not mangled, mangled
// names that several units may each use for a function of their own are added as well.
// addUnqualified leaves out symbols of templates that the text cannot define, because the compiler
// looks for these with their template arguments.
func (s *selection) addUnqualified(cut string, add func(program.Symbol)) error {
	key, plain := s.Index.KeyOf(cut), !cxx.IsMangled(cut)
	if key == "" || key == cxx.OddKey || s.keys[key] == searchedAll || s.keys[key] == searchedPlain && !plain {
		return nil
	}
	s.keys[key] = searchedPlain
	if plain {
		s.keys[key] = searchedAll
	}
	wanted := func(name string) bool {
		return cxx.IsPlain(name) && !strings.Contains(name, "<") || s.text == nil || s.text.mayDefine(name)
	}
	if plain && s.text != nil {
		return s.Index.ByKeys([]string{key}, wanted, add)
	}
	return s.Index.ByPlainKey(key, func(other program.Symbol) {
		if plain || !cxx.IsMangled(other.Name) && wanted(other.Name) {
			add(other)
		}
	})
}

// A searched says which of the symbols with one unqualified name have already been added to the
// slice: only those whose names are not mangled, or all that [selection.addUnqualified] can add.
type searched uint8

const (
	searchedPlain searched = 1 + iota // the symbols that are not mangled
	searchedAll                       // all symbols that addUnqualified can add
)

// addCallees adds the functions that are inlined in a function to those that the compile may
// define.
func (s *selection) addCallees(sym program.Symbol) error {
	f, err := s.read(sym)
	if err != nil {
		return err
	}
	for i := range f.Records {
		r := &f.Records[i]
		id := program.ID(r.Callee)
		if r.Kind != profile.KindInlined || s.followed.Has(id) {
			continue
		}
		callee, err := s.callee(id)
		if err != nil {
			return err
		}
		s.push(callee, true)
	}
	return nil
}

// read returns the samples of a symbol. If the symbol has samples, read adds them to the slice.
func (s *selection) read(sym program.Symbol) (profile.Function, error) {
	if f, ok := s.samples[sym.ID]; ok {
		return f, nil
	}
	f, err := s.Store.Function(sym, &s.scratch)
	if err == nil && (f.HeadCount > 0 || f.Timestamp > 0 || len(f.Records) > 0) { // format note 12
		s.samples[sym.ID] = f
	}
	return f, err
}

// callee returns the symbol with an ID that a record of the slice refers to. If there is no such
// symbol, the profile is malformed.
func (s *selection) callee(id program.ID) (program.Symbol, error) {
	sym, err := s.Store.Symbol(id)
	if errors.Is(err, afdo.ErrNotFound) {
		err = fmt.Errorf("%w, to which a record refers: %w", err, afdo.ErrMalformed)
	}
	return sym, err
}

// addNames adds symbols to the slice of which only the names matter to the compiler. It reads the
// samples of the functions that the compile may define, and adds the symbols to which their records
// refer. It also adds all symbols that share a name with one of these symbols. The added symbols
// have no samples in the slice.
func (s *selection) addNames() error {
	own := len(s.symbols) - len(s.callers)
	for _, sym := range s.symbols[:own:own] {
		if !sym.HasInfo {
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
		if err := s.addNamesIn(s.samples[sym.ID].Records); err != nil {
			return err
		}
	}
	for _, sym := range s.symbols[own:len(s.symbols):len(s.symbols)] {
		// What this adds brings no further ones: it shares the cut name, or is mangled.
		if err := s.addNamesOf(sym); err != nil {
			return err
		}
	}
	return nil
}

// addNamesIn adds the callees of records to the slice, without their samples.
func (s *selection) addNamesIn(records []profile.Record) error {
	for i := range records {
		r := &records[i]
		id := program.ID(r.Callee)
		if r.Kind == profile.KindCount || !s.referred.Add(id) || s.own.Has(id) || s.names.Has(id) {
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

// addName adds a symbol to the slice, without its samples. It does nothing if the compile may
// define the symbol, because it is in the slice with its samples.
func (s *selection) addName(sym program.Symbol) {
	if !s.own.Has(sym.ID) && s.names.Add(sym.ID) {
		s.symbols = append(s.symbols, sym)
	}
}

// addNamesOf adds the symbols that share a name with the symbol sym to the slice, without their
// samples.
func (s *selection) addNamesOf(sym program.Symbol) error {
	cut := symname.Canonical(sym.Name)
	if s.cuts[cut] {
		return nil
	}
	s.cuts[cut] = true
	if err := s.Index.ByCanonical(cut, s.addName); err != nil {
		return err
	}
	if cxx.IsMangled(cut) {
		return nil
	}
	return s.addUnqualified(cut, s.addName)
}

// profile builds the profile of the slice from the selected symbols and their samples.
func (s *selection) profile(q Request) (*profile.Profile, error) {
	p := profile.New()
	whole, err := s.Program.Summary()
	if err != nil {
		return nil, err
	}
	for _, name := range s.files() {
		p.AddUnit(name)
	}
	refs := make(map[program.ID]profile.SymbolRef, len(s.symbols))
	for _, sym := range s.symbols {
		refs[sym.ID] = p.AddSymbol(p.AddUnit(s.Store.Path(sym.Unit)), sym.Name)
	}
	var body profile.Body
	for _, sym := range s.symbols {
		f, ok := s.samples[sym.ID]
		if !ok {
			continue
		}
		body.Reset()
		quantize.Records(&body, f.Records, func(id profile.SymbolRef) profile.SymbolRef { return refs[program.ID(id)] }, q.Bits)
		p.AddFunction(refs[sym.ID], profile.Function{
			HeadCount: quantize.Count(f.HeadCount, q.Bits),
			Timestamp: f.Timestamp,
			Records:   body.Records(),
		})
	}
	p.Summary = summary.OfSlice(quantize.Summary(whole, q.Bits), p.NumFunctions())
	if q.Evidence {
		evidence, err := s.Store.Evidence(func(yield func(string) bool) {
			for _, sym := range s.symbols {
				if !yield(sym.Name) {
					return
				}
			}
			yield(profile.LeftOut)
		})
		if err != nil {
			return nil, err
		}
		p.SetEvidence(evidence)
	}
	if q.Sources != nil {
		return p, s.remember(p, refs, q.Sources)
	}
	return p, nil
}

// remember adds the marks of source lines to a slice, by which counts can be moved after an edit.
// It does so for all functions with samples whose unit wanted accepts, given the path and the
// checksum of the unit, see [Request.Sources]. refs has the number that each symbol has in the
// slice.
func (s *selection) remember(p *profile.Profile, refs map[program.ID]profile.SymbolRef, wanted func(string, uint32) bool) error {
	used := make([]bool, p.NumSymbols())
	for ref, f := range p.Functions() {
		used[ref] = true
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == profile.KindInlined {
				used[r.Callee] = true
			}
		}
	}
	units := make(map[int]bool)
	for _, sym := range s.symbols {
		ref := refs[sym.ID]
		if !used[ref] {
			continue
		}
		want, known := units[sym.Unit]
		if !known {
			sum, ok, err := s.Store.UnitSum(sym.Unit)
			if err != nil {
				return err
			}
			if want = ok && wanted(s.Store.Path(sym.Unit), sum); want {
				p.SetUnitSum(p.SymbolUnit(ref), sum)
			}
			units[sym.Unit] = want
		}
		if want {
			m, err := s.Store.Marks(sym)
			if err != nil {
				return err
			}
			p.SetMarks(ref, m)
		}
	}
	return nil
}

// files returns the paths of all files that the profile of the slice has to list, in the order of
// the whole profile. These are the files of its units and symbols. For each of them, it is also the
// last file of the whole profile with the same base name, because GCC 16 compares only base names
// and uses the last file of a name.
func (s *selection) files() []string {
	seen := make(map[int]struct{})
	add := func(unit int) {
		if path := s.Store.Path(unit); path != "" {
			seen[unit] = struct{}{}
		}
	}
	for _, sym := range s.symbols {
		add(sym.Unit)
	}
	for _, unit := range s.units {
		add(unit)
	}
	units := slices.Collect(maps.Keys(seen))
	for _, unit := range units {
		add(s.LastOfBase()[path.Base(s.Store.Path(unit))])
	}
	units = slices.Sorted(maps.Keys(seen))
	files := make([]string, len(units))
	for i, unit := range units {
		files[i] = s.Store.Path(unit)
	}
	return files
}
