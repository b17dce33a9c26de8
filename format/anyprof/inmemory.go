package anyprof

import (
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// inMemory is a GCOV profile that was read whole.
type inMemory struct {
	p     *profile.Profile
	files func() [][]profile.SymbolRef // the functions of each unit
}

func newInMemory(p *profile.Profile) *inMemory {
	return &inMemory{p, sync.OnceValue(func() [][]profile.SymbolRef {
		files := make([][]profile.SymbolRef, p.NumUnits())
		for s := range p.Functions() {
			files[p.SymbolUnit(s)] = append(files[p.SymbolUnit(s)], s)
		}
		return files
	})}
}

func (m *inMemory) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for i := range m.p.NumUnits() {
			if !yield(m.unitOf(profile.UnitRef(i)), nil) {
				return
			}
		}
	}
}

func (m *inMemory) unit(path string) (Unit, error) {
	f, err := m.p.UnitBySuffix(path)
	if err != nil {
		return Unit{}, err
	}
	return m.unitOf(f), nil
}

func (m *inMemory) unitOf(f profile.UnitRef) Unit {
	return Unit{Path: m.p.UnitPath(f), functions: func(yield func(*Function, error) bool) {
		for _, s := range m.files()[f] {
			if !yield(m.function(s), nil) {
				return
			}
		}
	}}
}

func (m *inMemory) function(s profile.SymbolRef) *Function {
	f := m.p.Function(s)
	return &Function{
		Name: Name{Text: m.p.SymbolName(s)}, Unit: m.p.UnitPath(m.p.SymbolUnit(s)), HeadCount: f.HeadCount,
		records: func(yield func(Record, error) bool) { m.walk(f.Records, yield) },
	}
}

func (m *inMemory) walk(records []profile.Record, yield func(Record, error) bool) {
	for w := profile.Walk(records); ; {
		have, depth, ok := w.Next()
		if !ok {
			return
		}
		r := Record{Depth: depth, Line: have.Line, Discriminator: have.Discriminator}
		switch have.Kind {
		case profile.KindCount:
			r.Kind, r.Count = Samples, have.Count
		case profile.KindCall:
			r.Kind, r.Name.Text, r.Count = Call, m.p.SymbolName(have.Callee), have.Count
		case profile.KindInlined:
			r.Kind, r.Name.Text = Inlined, m.p.SymbolName(have.Callee)
		}
		if !yield(r, nil) {
			return
		}
	}
}

func (m *inMemory) lookup(names []string, ask asking) (map[string][]*Function, error) {
	return ask(names, func(name string) ([]*Function, error) {
		var found []*Function
		for i := range m.p.NumUnits() {
			if s, ok := m.p.FindSymbol(profile.UnitRef(i), name); ok && m.p.Function(s) != nil {
				found = append(found, m.function(s))
			}
		}
		return found, nil
	})
}

// v4 is a GCOV version 4 file, read lazily.
type v4 struct {
	r       *afdo.Reader
	program *index.Program
}

func newV4(r *afdo.Reader) *v4 { return &v4{r, index.NewProgram(r)} }

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

// unitOf returns a unit. Its functions draw on the budget. It calls end after the last one.
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

// function returns the function of a symbol with samples.
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

func (v *v4) lookup(names []string, ask asking) (map[string][]*Function, error) {
	spent := budget.New(v.r.Size())
	return ask(names, func(name string) ([]*Function, error) {
		var found []*Function
		for s, err := range v.program.Named(name) {
			if err != nil {
				return nil, err
			}
			if !s.HasInfo() {
				continue
			}
			f, err := v.function(s, spent)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
		return found, nil
	})
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

// A Name is the linkage name of a function, or its GUID.
type Name struct {
	Text string // empty if unknown
	GUID uint64 // if Text is empty: the first eight bytes of the MD5 of the name, or 0 if there is no name
}

// A Function is the entry for one function in a profile. If the profile distinguishes source files,
// calling contexts or hashes of a function, there is a Function for each. It stays valid after the
// profile is closed, but its records do not.
type Function struct {
	Name
	Unit      string // path of the source file, empty if unknown
	Context   string // in a context-sensitive profile, the calls that lead to the function, such as "main:3 @ f"
	Hash      uint64 // hash of the control flow graph, 0 if the profile has none
	HeadCount uint64 // number of calls of the function, 0 if unknown
	records   iter.Seq2[Record, error]
}

// Records iterates over the records of the function, including those of inlined functions. An error
// ends the iteration. Each call starts from the beginning.
func (f *Function) Records() iter.Seq2[Record, error] { return f.records }

// A Record describes a place in a function.
type Record struct {
	Kind Kind

	// Depth is the number of enclosing inlined functions, 0 in the function itself.
	Depth int

	// Line and Discriminator are the place. Line counts from the function's declaration; in a
	// profile with pseudo-probes it is the number of the probe. Column is known only for
	// allocations.
	Line          uint32
	Discriminator uint32
	Column        uint32

	// Index is the number of the counter or value site in instrumentation profiles, which have no
	// lines.
	Index int

	Name  Name   // the called or inlined function, the value, or the function with the allocation
	Value uint64 // recorded value, or number of allocated bytes
	Count uint64 // number of samples, calls or occurrences
}

// A Kind is the kind of a [Record].
type Kind uint8

// The kinds of records.
const (
	Samples    Kind = iota + 1 // Count samples were taken at the place
	Call                       // Name was called from the place Count times
	Inlined                    // Name was inlined at the place; its records follow, one level deeper
	Counter                    // the counter Index has the value Count
	Value                      // Name, which is a type, or Value occurred Count times
	Allocation                 // Value bytes were allocated at the place, in Count allocations
)

var kindNames = [...]string{"none", "samples", "call", "inlined", "counter", "value", "allocation"}

// String returns a word for the kind, or its number if it is unknown.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// lookupAll looks up names by iterating over all functions.
func lookupAll(functions iter.Seq2[*Function, error], names []string) (map[string][]*Function, error) {
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	found := make(map[string][]*Function)
	for f, err := range functions {
		if err != nil {
			return nil, err
		}
		if f.Text != "" && wanted[f.Text] {
			found[f.Text] = append(found[f.Text], f)
		}
	}
	return found, nil
}

// single provides the units of a format without source files.
type single struct {
	functions iter.Seq2[*Function, error]
}

func (s single) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) { yield(Unit{functions: s.functions}, nil) }
}

func (s single) unit(path string) (Unit, error) {
	if path != "" {
		return Unit{}, afdo.ErrNotFound
	}
	return Unit{functions: s.functions}, nil
}
