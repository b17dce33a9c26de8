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
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A selection is what a slice is to hold.
type selection struct {
	*program.Program
	common  *commonNames // nil if names are looked up for each text
	text    *Text        // nil if there is none
	scratch program.Scratch

	units   []int
	symbols []program.Symbol // first those that may have a body in the units, then the names of others
	callers []program.Symbol // the functions of other units that the slice has in part
	samples map[program.ID]profile.Function

	own      program.IDSet // symbols that may have a body in the compile
	followed program.IDSet // those of them whose callees have been looked at
	queue    []queued
	names    program.IDSet       // symbols that are not own
	referred program.IDSet       // symbols to which records refer
	cuts     map[string]struct{} // cut names whose symbols have been added
	keys     map[string]searched
}

func newSelection(p *Program, t *Text) *selection {
	return &selection{
		Program: p.whole,
		common:  p.common,
		text:    t,
		samples: make(map[program.ID]profile.Function),
		cuts:    make(map[string]struct{}),
		keys:    make(map[string]searched),
	}
}

// A queued symbol is one of own whose surroundings are still to be seen.
type queued struct {
	program.Symbol
	follow bool
}

// addUnits makes the symbols of the units its own.
//
// Without a text, what the units' functions inline may have a body there, too, and so may
// symbols of unknown files, which are anybody's.
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

// addText adds the functions that a text may define, and all that have the same name as one of
// them. With renamed, inline namespaces may have other names in the profile.
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

// addGone makes the functions its own that units which were edited do not have any more.
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

// isGone reports whether a function is remembered and no function of the text has its name.
func (s *selection) isGone(sym program.Symbol) (bool, error) {
	name := s.Index.KeyOf(symname.Canonical(sym.Name))
	if !sym.HasInfo || name == "" || name == cxx.OddKey || slices.Contains(implicitNames, name) || s.text.defines(name) {
		return false, nil
	}
	marks, err := s.Store.Marks(sym)
	return len(marks) > 0, err
}

// push adds a symbol to the slice's own ones. If follow is set, the symbols that it leads to are
// added later, once.
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

// closeOwn adds to what the slice owns until nothing is left to add.
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

// addNamesakes adds the symbols that the compiler may take for one of the slice's own.
func (s *selection) addNamesakes(sym program.Symbol) error {
	cut := symname.Canonical(sym.Name)
	if !fresh(s.cuts, cut) {
		return nil
	}
	own := func(other program.Symbol) { s.push(other, false) }
	if err := s.Index.ByCanonical(cut, own); err != nil {
		return err
	}
	return s.addUnqualified(cut, own)
}

// addUnqualified adds what shares its unqualified name with a cut one: names
// that are not mangled, and for one that is not mangled itself, those that
// several units may have for themselves. Those of templates are as long as what the text may
// define, since their arguments are part of the name that is looked for.
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

// searched says how far the names of a key have been looked at.
type searched uint8

const (
	searchedPlain searched = 1 + iota // those that are not mangled
	searchedAll
)

// fresh adds something to a set and reports whether it is new.
func fresh(set map[string]struct{}, key string) bool {
	if _, ok := set[key]; ok {
		return false
	}
	set[key] = struct{}{}
	return true
}

// addCallees adds the functions that one of the units' inlines: they may have a body next to it.
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

// read returns the samples of a symbol that has them.
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

// callee returns the symbol that a record refers to.
func (s *selection) callee(id program.ID) (program.Symbol, error) {
	sym, err := s.Store.Symbol(id)
	if errors.Is(err, afdo.ErrNotFound) {
		err = fmt.Errorf("%w, to which a record refers: %w", err, afdo.ErrMalformed)
	}
	return sym, err
}

// addNames reads the samples and adds every name that shows in them, and what
// shares one with it: a name alone changes what the compiler finds.
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

// addNamesIn adds the callees of records, and takes note that these are referred to.
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

// addName adds a symbol without its samples, unless it is the slice's own.
func (s *selection) addName(sym program.Symbol) {
	if !s.own.Has(sym.ID) && s.names.Add(sym.ID) {
		s.symbols = append(s.symbols, sym)
	}
}

// addNamesOf adds the names that share one with a name.
func (s *selection) addNamesOf(sym program.Symbol) error {
	cut := symname.Canonical(sym.Name)
	if !fresh(s.cuts, cut) {
		return nil
	}
	if err := s.Index.ByCanonical(cut, s.addName); err != nil {
		return err
	}
	if cxx.IsMangled(cut) {
		return nil
	}
	return s.addUnqualified(cut, s.addName)
}

// profile makes a profile of the slice.
func (s *selection) profile(q Request) (*profile.Profile, error) {
	p := profile.New()
	summary, err := s.Program.Summary()
	if err != nil {
		return nil, err
	}
	p.Summary = quantize.Summary(summary, q.Bits)
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

// remember has a slice remember the lines of the functions that have samples in it.
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

// files returns the units, followed by the files of the symbols in the profile's order. Each comes
// with the file that wins among all files with its last path element: GCC 16 looks at no more of a
// path, and takes the last file that has it.
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
