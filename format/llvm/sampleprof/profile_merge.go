package sampleprof

import (
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// Read reads a whole file into memory. A file that needs more than [MaxMemory] gives afdo.ErrLimit.
// After an error the profile is nil.
func Read(r *Reader) (*Profile, error) {
	p := new(Profile)
	_, err := p.Merge(r, profile.Ratio{Num: 1, Den: 1})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Merge adds a whole profile or file. It multiplies each count, total and head count by weight,
// rounded to nearest and saturating. Like LLVM, it drops the samples of a function or inlined
// function whose checksum differs from its checksum in the profile. It returns how many functions
// it dropped. Of a file, it keeps only the sections and one function in memory. After an error
// other than [ErrMixed], the profile is incomplete and must not be used.
//
// An empty profile adopts ContextSensitive and Probes from the first source. Later sources must
// have the same values; otherwise the error matches [ErrMixed]. FS, Partial and PreInlined are set
// if any source sets them. The symbol lists are united.
func (p *Profile) Merge(src Source, weight profile.Ratio) (dropped int, err error) {
	return src.mergeInto(p, weight)
}

func (r *Reader) mergeInto(p *Profile, weight profile.Ratio) (dropped int, err error) {
	if err := p.setKind(r.flags()); err != nil {
		return 0, err
	}
	if err := p.addSymbols(r.symbolList()); err != nil {
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
			return m.dropped, fmt.Errorf("sampleprof: %w: %w", fault.ErrLimit, err)
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

// flags returns an empty profile with the properties of the file, such as ContextSensitive and
// Probes.
func (r *Reader) flags() *Profile {
	return &Profile{
		ContextSensitive: r.kind.contextSensitive, Probes: r.kind.probes, FS: r.kind.fs,
		Partial: r.kind.partial, PreInlined: r.kind.preInlined,
	}
}

// AddFrom adds a single function of src, as [Profile.Merge] does for all functions. If rename is
// not nil, AddFrom applies rename to each name. It does not add the symbol list. Each call takes
// time and memory proportional to the number of names in src, so use it for a few functions only.
// If src is of another kind, the error matches [ErrMixed].
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

// functionSize is the approximate memory of a function without its records, in bytes.
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

// A translation is for merging a profile, the source, into the profile p. It maps the indexes of
// names in the source to the indexes of the same names in p, and adds names that p does not have.
type translation struct {
	p    *Profile
	refs []NameRef // index in p plus 1; 0 for a name that has not occurred yet
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

// function replaces the names in f by those of p. It changes f.Records in place, but copies
// f.Context.
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

// scale multiplies the counts of a function by weight.
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
