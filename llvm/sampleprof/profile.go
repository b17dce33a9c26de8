package sampleprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/arena"
	"github.com/go-afdo/afdo/profile"
)

// A Profile holds a sample profile in memory, with all that LLVM's model has but the summary, which
// is computed. The zero Profile is empty and ready to use.
//
// It takes 24 bytes a record, some 150 a function and 100 a name. It is not safe for concurrent use
// while it changes; any number of goroutines may read one that does not.
type Profile struct {
	ContextSensitive bool // functions are by calling context
	Probes           bool // locations are pseudo-probes, and functions have checksums
	FS               bool // discriminators are flow-sensitive: all their 32 bits count
	Partial          bool // it is of a part of the program
	PreInlined       bool // attributes say what the pre-inliner wants inlined

	// SymbolList has the names of all functions of the profiled program, so that a compiler can
	// tell cold ones from new ones. Writers sort it. Nil if there is none.
	SymbolList []string

	names     nameTable
	functions []Function
	byName    []uint32          // by NameRef, of a function and counted from 1; 0 if it has none
	byContext map[string]uint32 // instead, in a context-sensitive profile
	used      bool              // something has been added, so the flags are set
}

// ErrMixed is returned for adding profiles of different kinds: context-sensitive or probe-based
// ones to others.
var ErrMixed = errors.New("profiles of different kinds")

// Name returns a name.
func (p *Profile) Name(ref NameRef) Name { return p.names.list[ref] }

// NumNames returns the number of names.
func (p *Profile) NumNames() int { return len(p.names.list) }

// NumHashed returns the number of names that are known by their MD5 only.
func (p *Profile) NumHashed() int { return p.names.hashed }

// AddName returns the reference of a name, adding it if need be. The text is copied. A name and the
// MD5 of it are one name, which is called what it was called first.
func (p *Profile) AddName(n Name) NameRef { return p.names.add(n) }

// NumFunctions returns the number of functions.
func (p *Profile) NumFunctions() int { return len(p.functions) }

// Functions iterates over the functions in the order in which they came. They must not be changed.
func (p *Profile) Functions() iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for i := range p.functions {
			if !yield(&p.functions[i]) {
				return
			}
		}
	}
}

// Find returns the function of a name, or nil; of a context-sensitive profile, that of a context.
func (p *Profile) Find(f NameRef, context []Frame) *Function {
	row := p.row(f, context)
	if row == 0 {
		return nil
	}
	return &p.functions[row-1]
}

func (p *Profile) row(name NameRef, context []Frame) uint32 {
	if context != nil {
		return p.byContext[string(contextKey(context))]
	}
	if int(name) < len(p.byName) {
		return p.byName[name]
	}
	return 0
}

// contextKey returns bytes that are different for different contexts.
func contextKey(context []Frame) []byte {
	b := make([]byte, 0, 10*len(context))
	for _, f := range context {
		b = binary.LittleEndian.AppendUint32(b, uint32(f.Name))
		b = binary.LittleEndian.AppendUint32(b, f.Discriminator)
		b = binary.LittleEndian.AppendUint16(b, f.Line)
	}
	return b
}

// AddFunction adds a function to what the profile has of it: totals, head counts and records add up
// and saturate. Of two that have different checksums the first is kept, and AddFunction returns how
// many bodies it has dropped for that. Records may be in any order and are copied. A function has a
// context if and only if the profile is context-sensitive.
func (p *Profile) AddFunction(f Function) (dropped int) {
	a := arranger{compare: p.compare}
	f.Records = a.arrange(nil, slices.Clone(f.Records))
	f.Context = slices.Clone(f.Context)
	m := merger{compare: p.compare}
	p.add(&f, &m, false)
	return m.dropped
}

// add adds a function of canonical records. They are copied unless owned is set.
func (p *Profile) add(f *Function, m *merger, owned bool) {
	p.used = true
	if row := p.row(f.Name, f.Context); row != 0 {
		have := &p.functions[row-1]
		if !m.compatible(have.Records, f.Records) {
			m.dropped++
			return
		}
		have.Total = m.add(have.Total, f.Total)
		have.HeadCount = m.add(have.HeadCount, f.HeadCount)
		sum := m.merge(have.Records, f.Records)
		if len(sum) == len(have.Records) {
			copy(have.Records, sum)
		} else {
			have.Records = slices.Clone(sum)
		}
		return
	}
	g := *f
	if !owned {
		g.Records = slices.Clone(g.Records)
	}
	p.functions = append(p.functions, g)
	row := uint32(len(p.functions))
	if f.Context != nil {
		if p.byContext == nil {
			p.byContext = map[string]uint32{}
		}
		p.byContext[string(contextKey(f.Context))] = row
		return
	}
	if int(f.Name) >= len(p.byName) {
		p.byName = append(p.byName, make([]uint32, len(p.names.list)-len(p.byName))...)
	}
	p.byName[f.Name] = row
}

func (p *Profile) compare(s, t NameRef) int { return p.names.compare(s, t) }

// setKind takes over the flags of what is to be added.
func (p *Profile) setKind(q *Profile) error {
	if p.used && (p.ContextSensitive != q.ContextSensitive || p.Probes != q.Probes) {
		return fmt.Errorf("sampleprof: %w: %s and %s", ErrMixed, p.kindName(), q.kindName())
	}
	p.used = true
	p.ContextSensitive, p.Probes = q.ContextSensitive, q.Probes
	p.FS = p.FS || q.FS
	p.Partial = p.Partial || q.Partial
	p.PreInlined = p.PreInlined || q.PreInlined
	return nil
}

func (p *Profile) kindName() string {
	name := "plain"
	if p.Probes {
		name = "probe-based"
	}
	if p.ContextSensitive {
		name += ", context-sensitive"
	}
	return name
}

// Read reads a whole file into memory.
func Read(r *Reader) (*Profile, error) {
	p := new(Profile)
	_, err := p.Merge(r, profile.Ratio{Num: 1, Den: 1})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Merge adds a whole profile or file, every count, total and head count multiplied by weight,
// rounded to the nearest and saturating. It returns how many bodies were dropped since their
// checksum is different from that of the same function before, as LLVM drops them. While it reads a
// file, it holds no more of it than the sections and one function. After an error the profile holds
// a part of the file and is of no use.
//
// A profile that is empty takes over the kind of the first source; others must be of that kind, or
// Merge returns [ErrMixed].
func (p *Profile) Merge(src Source, weight profile.Ratio) (dropped int, err error) {
	return src.mergeInto(p, weight)
}

func (r *Reader) mergeInto(p *Profile, weight profile.Ratio) (dropped int, err error) {
	if err := p.setKind(r.flags()); err != nil {
		return 0, err
	}
	if err := p.addSymbols(r.SymbolList()); err != nil {
		return 0, err
	}
	spent := budget{limit: r.spent.limit}
	spent.spent.Store(r.spent.spent.Load())
	t := translation{p: p}
	m := merger{compare: p.compare}
	for f, err := range r.Functions() {
		if err != nil {
			return m.dropped, err
		}
		if err := spent.add(int64(functionSize + recordSize*len(f.Records))); err != nil {
			return m.dropped, fmt.Errorf("sampleprof: %w: %w", afdo.ErrLimit, err)
		}
		if t.refs == nil {
			t.refs = make([]NameRef, r.names.len())
			t.name = r.names.name
		}
		t.function(f)
		scale(f, weight)
		p.add(f, &m, false)
	}
	return m.dropped, nil
}

// flags returns a profile that is empty and of the kind of the file.
func (r *Reader) flags() *Profile {
	return &Profile{
		ContextSensitive: r.kind.contextSensitive, Probes: r.kind.probes, FS: r.kind.fs,
		Partial: r.kind.partial, PreInlined: r.kind.preInlined,
	}
}

// AddFrom adds a function of src, as [Profile.Merge] adds all of them, with its names as rename
// makes them, or as they are if that is nil. Each call takes time and memory for all names of src,
// so use it for a few functions only.
func (p *Profile) AddFrom(src Source, f *Function, rename func(Name) Name) error {
	if err := p.setKind(src.flags()); err != nil {
		return err
	}
	g := *f
	g.Records = slices.Clone(f.Records)
	name := src.Name
	if rename != nil {
		name = func(ref NameRef) Name { return rename(src.Name(ref)) }
	}
	t := translation{p: p, refs: make([]NameRef, src.numNames()), name: name}
	t.function(&g)
	p.AddFunction(g)
	return nil
}

// functionSize is about what a function takes besides its records.
const functionSize = 150

func (q *Profile) mergeInto(p *Profile, weight profile.Ratio) (dropped int, err error) {
	if err := p.setKind(q); err != nil {
		return 0, err
	}
	_ = p.addSymbols(q.SymbolList, nil)
	t := translation{p: p, refs: make([]NameRef, len(q.names.list)), name: q.Name}
	m := merger{compare: p.compare}
	for i := range q.functions {
		f := q.functions[i]
		f.Records = slices.Clone(f.Records)
		t.function(&f)
		scale(&f, weight)
		p.add(&f, &m, true)
	}
	return m.dropped, nil
}

func (p *Profile) addSymbols(list []string, err error) error {
	if err != nil || len(list) == 0 {
		return err
	}
	p.SymbolList = append(p.SymbolList, list...)
	slices.Sort(p.SymbolList)
	p.SymbolList = slices.Compact(p.SymbolList)
	return nil
}

// A translation turns the references of another profile into those of p.
type translation struct {
	p    *Profile
	refs []NameRef // counted from 1; 0 where a name has not come yet
	name func(NameRef) Name
}

func (t *translation) ref(other NameRef) NameRef {
	ref := t.refs[other]
	if ref == 0 {
		ref = t.p.AddName(t.name(other)) + 1
		t.refs[other] = ref
	}
	return ref - 1
}

// function translates a function in place, but for its context, which is copied.
func (t *translation) function(f *Function) {
	f.Name = t.ref(f.Name)
	if f.Context != nil {
		f.Context = slices.Clone(f.Context)
		for i := range f.Context {
			f.Context[i].Name = t.ref(f.Context[i].Name)
		}
	}
	for i := range f.Records {
		switch r := &f.Records[i]; r.Kind {
		case KindTarget, KindInlined, KindVTable:
			r.Name = t.ref(r.Name)
		}
	}
}

// scale multiplies what a function counts.
func scale(f *Function, weight profile.Ratio) {
	if weight.Num == weight.Den {
		return
	}
	f.Total, f.HeadCount = weight.Of(f.Total), weight.Of(f.HeadCount)
	for i := range f.Records {
		if r := &f.Records[i]; r.Kind < KindChecksum {
			r.Count = weight.Of(r.Count)
		}
	}
}

// withoutContexts returns a profile in which the contexts of a function are added up.
func (p *Profile) withoutContexts() *Profile {
	q := &Profile{Probes: p.Probes, names: p.names}
	m := merger{compare: p.compare}
	for _, f := range p.functions {
		f.Context = nil
		q.add(&f, &m, false)
	}
	return q
}

// sorted returns the functions in the order in which LLVM writes them.
func (p *Profile) sorted() []*Function {
	list := make([]*Function, len(p.functions))
	for i := range p.functions {
		list[i] = &p.functions[i]
	}
	slices.SortFunc(list, func(f, g *Function) int {
		switch {
		case f.Total > g.Total:
			return -1
		case f.Total < g.Total:
			return 1
		case p.ContextSensitive:
			return compareContexts(f.Context, g.Context, p.compare)
		case f.Name == g.Name:
			return 0
		}
		return p.compare(f.Name, g.Name)
	})
	return list
}

// Resolve gives names to the MD5s that they are of, and returns how many MD5s are left without a
// name. Names that no MD5 is of are ignored.
func (p *Profile) Resolve(names iter.Seq[string]) int {
	left := p.names.resolve(names)
	a := arranger{compare: p.compare}
	for i := range p.functions {
		f := &p.functions[i]
		f.Records = append(f.Records[:0], a.arrange(nil, f.Records)...)
	}
	return left
}

// A nameTable holds the names of a profile, each once.
type nameTable struct {
	list   []Name
	byText map[string]NameRef
	byMD5  map[uint64]NameRef // of all names, once there is a hashed one
	hashed int                // names that are
	arena  arena.Names
}

// compare orders names. It is only asked where more than one thing is at one place.
func (t *nameTable) compare(s, u NameRef) int { return t.list[s].Compare(t.list[u]) }

func (t *nameTable) add(n Name) NameRef {
	if n.Hashed {
		t.hash()
		if ref, ok := t.byMD5[n.MD5]; ok {
			return ref
		}
		t.hashed++
		return t.append(n)
	}
	if ref, ok := t.byText[n.Text]; ok {
		return ref
	}
	if t.byMD5 != nil {
		if ref, ok := t.byMD5[GUID(n.Text)]; ok {
			return ref
		}
	}
	return t.append(Name{Text: t.arena.Clone(n.Text)})
}

// hash has the table find names by MD5 from now on.
func (t *nameTable) hash() {
	if t.byMD5 != nil {
		return
	}
	t.byMD5 = make(map[uint64]NameRef, len(t.list))
	for i, n := range t.list {
		t.byMD5[n.GUID()] = NameRef(i)
	}
}

func (t *nameTable) append(n Name) NameRef {
	ref := NameRef(len(t.list))
	t.list = append(t.list, n)
	if t.byMD5 != nil {
		t.byMD5[n.GUID()] = ref
	}
	if !n.Hashed {
		if t.byText == nil {
			t.byText = map[string]NameRef{}
		}
		t.byText[n.Text] = ref
	}
	return ref
}

func (t *nameTable) resolve(names iter.Seq[string]) int {
	if t.hashed == 0 {
		return 0
	}
	t.hash()
	if t.byText == nil {
		t.byText = map[string]NameRef{}
	}
	for name := range names {
		ref, ok := t.byMD5[GUID(name)]
		if !ok || !t.list[ref].Hashed {
			continue
		}
		name = t.arena.Clone(name)
		t.list[ref] = Name{Text: name}
		t.byText[name] = ref
		t.hashed--
	}
	return t.hashed
}
