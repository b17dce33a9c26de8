package sampleprof

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// A merger adds up the records of a function from two sources, for example from two profiles. The
// records of both must be in the order described at [Record], so a merge takes O(n).
type merger struct {
	adder
	compare func(s, t NameRef) int

	// metadata means that the second list of records is the metadata of the function: its checksum
	// and attributes replace those of the first list. Otherwise the attributes of the first list
	// win, and if the checksums differ, the second list is dropped. That is what LLVM does.
	metadata bool

	dropped int // number of bodies dropped because of different checksums
	out     []Record
	open    []openMerge
}

// An openMerge holds the records of a function, or of an inlined function, that a [merger] has not
// merged yet: those of the first and of the second source.
type openMerge struct {
	first, second []Record // the remaining records
	head          int      // index of the KindInlined record in the result; -1 for the function itself
}

// merge returns the sum of the records of two functions. The result is valid until the next call.
func (m *merger) merge(first, second []Record) []Record {
	m.out, m.open = m.out[:0], m.open[:0]
	if !m.compatible(first, second) {
		m.dropped++
		return first
	}
	m.open = append(m.open, openMerge{first, second, -1})
	for len(m.open) > 0 {
		top := &m.open[len(m.open)-1]
		if len(top.first) == 0 && len(top.second) == 0 {
			if top.head >= 0 {
				m.out[top.head].Span = uint32(len(m.out) - top.head - 1)
			}
			m.open = m.open[:len(m.open)-1]
			continue
		}
		m.step(top)
	}
	return m.out
}

// compatible reports whether two lists of records of one function, or inlined function, may be
// added. They may if they have the same checksum, if the first has none, or if the second list is
// metadata.
func (m *merger) compatible(first, second []Record) bool {
	if m.metadata {
		return true
	}
	checksum := find(first, KindChecksum)
	return checksum == 0 || checksum == find(second, KindChecksum)
}

// step merges the next record of top, with its call targets or its inlined body. If both sources
// have the record, it appends the sum to the result. Otherwise it appends the record itself.
func (m *merger) step(top *openMerge) {
	order := 0
	switch {
	case len(top.first) == 0:
		order = 1
	case len(top.second) == 0:
		order = -1
	default:
		order = compareSiblings(&top.first[0], &top.second[0], m.compare)
	}
	if order < 0 {
		n := recordLength(top.first)
		m.out = append(m.out, top.first[:n]...)
		top.first = top.first[n:]
		return
	}
	n := recordLength(top.second)
	second := top.second[:n]
	top.second = top.second[n:]
	if order > 0 {
		if second[0].Kind != KindAttributes || m.metadata {
			m.out = append(m.out, second...)
		}
		return
	}
	n = recordLength(top.first)
	first := top.first[:n]
	top.first = top.first[n:]
	m.both(first, second)
}

// recordLength returns how many records of body belong together at its start: the first record, and
// its call targets or the records of its inlined body.
func recordLength(body []Record) int {
	if body[0].Kind != KindCount {
		return body[0].span()
	}
	n := 1
	for n < len(body) && body[n].Kind == KindTarget {
		n++
	}
	return n
}

// both appends the sum of a record that both sources have. first and second begin with that record,
// and its call targets follow. For an inlined body, both appends only its first record, and the
// records of the body are merged next.
func (m *merger) both(first, second []Record) {
	head := first[0]
	switch head.Kind {
	case KindInlined:
		if !m.compatible(first[1:], second[1:]) {
			m.dropped++
			m.out = append(m.out, first...)
			return
		}
		head.Count = m.add(head.Count, second[0].Count)
		m.out = append(m.out, head)
		m.open = append(m.open, openMerge{first[1:], second[1:], len(m.out) - 1})
	case KindChecksum, KindAttributes:
		if m.metadata {
			head = second[0]
		}
		m.out = append(m.out, head)
	default:
		head.Count = m.add(head.Count, second[0].Count)
		m.out = append(m.out, head)
		m.targets(first[1:], second[1:])
	}
}

// targets appends the sum of two lists of call targets that belong to the same location.
func (m *merger) targets(first, second []Record) {
	start := len(m.out)
	m.out = append(m.out, first...)
	same := len(first) == len(second)
	for i := range second {
		same = same && first[i].Name == second[i].Name
	}
	if same {
		for i := range second {
			t := &m.out[start+i]
			t.Count = m.add(t.Count, second[i].Count)
		}
	} else {
		m.out = append(m.out, second...)
		m.out = m.out[:start+len(oneOfEach(m.out[start:], m.add))]
	}
	sortTargets(m.out, m.compare)
}

// oneOfEach returns call targets with one target for each name, sorted by name. combine returns the
// count of a target that replaces two of the same name.
func oneOfEach(targets []Record, combine func(first, next uint64) uint64) []Record {
	slices.SortStableFunc(targets, func(s, t Record) int { return cmp.Compare(s.Name, t.Name) })
	kept := targets[:0]
	for _, t := range targets {
		if n := len(kept); n > 0 && kept[n-1].Name == t.Name {
			kept[n-1].Count = combine(kept[n-1].Count, t.Count)
		} else {
			kept = append(kept, t)
		}
	}
	return kept
}

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
	t.scale(&g, weight)
	return &g
}

// scale multiplies all counts of a function by weight, in place. Call targets whose counts become
// equal, because products saturate or are rounded, are sorted again.
func (t *translation) scale(f *Function, weight profile.Ratio) {
	if weight.Num == weight.Den {
		return
	}
	f.Total, f.HeadCount = weight.Of(f.Total), weight.Of(f.HeadCount)
	for i := range f.Records {
		if r := &f.Records[i]; r.Kind < KindChecksum {
			r.Count = weight.Of(r.Count)
		}
		if i+1 == len(f.Records) || f.Records[i+1].Kind != KindTarget {
			sortTargets(f.Records[:i+1], t.p.compare)
		}
	}
}
