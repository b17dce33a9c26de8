package sampleprof

import (
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// unweighted is the weight 1, which leaves counts unchanged.
var unweighted = profile.Ratio{Num: 1, Den: 1}

// Read reads a whole file into memory. A file that needs more than [MaxMemory] gives afdo.ErrLimit.
// After an error the profile is nil.
func Read(r *Reader) (*Profile, error) {
	p := new(Profile)
	if _, err := p.Merge(r, unweighted); err != nil {
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
	if err := p.setKind(src.flags()); err != nil {
		return 0, err
	}
	list, err := src.symbolList()
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		p.SymbolList = slices.Compact(slices.Sorted(slices.Values(append(p.SymbolList, list...))))
	}
	return p.addAll(src, src.each(), weight)
}

// addAll adds the given functions of src to the profile, with each count, total and head count
// multiplied by weight. dropped is the number of functions that were left out because their
// checksums differ from those in the profile.
func (p *Profile) addAll(src Source, functions iter.Seq2[*Function, error], weight profile.Ratio) (dropped int, err error) {
	t := translation{p: p, name: src.Name}
	m := merger{compare: p.compare}
	spent := src.memory()
	for f, err := range functions {
		if err != nil {
			return m.dropped, err
		}
		if err := spent.add(int64(functionSize + recordSize*len(f.Records))); err != nil {
			return m.dropped, fmt.Errorf("sampleprof: %w: %w", fault.ErrLimit, err)
		}
		p.add(t.function(f, weight), &m)
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
	t := translation{p: p, name: src.Name}
	if rename != nil {
		t.name = func(ref NameRef) Name { return rename(src.Name(ref)) }
	}
	p.AddFunction(*t.function(f, unweighted))
	return nil
}

// functionSize is the approximate memory of a function without its records, in bytes.
const functionSize = 150

// A translation copies functions of one profile, the source, so that they can be added to the
// profile p. Both profiles refer to names by index. The translation replaces an index of the source
// by that of the same name in p, and adds names that p does not have.
type translation struct {
	p       *Profile
	name    func(NameRef) Name // returns a name of the source
	refs    []NameRef          // index in p plus 1, by index in the source; 0 for a name that has not occurred yet
	records []Record           // buffer for the records of one function
}

func (t *translation) ref(source NameRef) NameRef {
	if more := int(source) + 1 - len(t.refs); more > 0 {
		t.refs = append(t.refs, make([]NameRef, more)...)
	}
	if t.refs[source] == 0 {
		t.refs[source] = t.p.AddName(t.name(source)) + 1
	}
	return t.refs[source] - 1
}

// function returns a copy of f, which is a function of the source. The copy refers to the names of
// p, and its counts are multiplied by weight. Its records are valid until the next call.
func (t *translation) function(f *Function, weight profile.Ratio) *Function {
	g := *f
	g.Name, g.Context = t.ref(f.Name), slices.Clone(f.Context)
	for i := range g.Context {
		g.Context[i].Name = t.ref(g.Context[i].Name)
	}
	t.records = append(t.records[:0], f.Records...)
	g.Records = t.records
	for i := range g.Records {
		switch r := &g.Records[i]; r.Kind {
		case KindTarget, KindInlined, KindVTable:
			r.Name = t.ref(r.Name)
		}
	}
	scale(&g, weight)
	return &g
}

// scale multiplies all counts of a function by weight, in place.
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
