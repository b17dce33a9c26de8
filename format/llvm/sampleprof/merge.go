package sampleprof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// A merger adds two canonical bodies, in O(n).
type merger struct {
	adder
	compare func(s, t NameRef) int

	// metadata means that the second body is metadata for the first: its checksum and attributes
	// replace those of the first. Otherwise merging follows LLVM: the attributes of the first body
	// win, and a second body with a different checksum is dropped.
	metadata bool

	dropped int // number of bodies dropped because of different checksums
	out     []Record
	open    []openMerge
}

// An openMerge is a pair of bodies being merged.
type openMerge struct {
	first, second []Record // the remaining records
	head          int      // index of the KindInlined record in the result; -1 for the function itself
}

// merge adds the records of two bodies. The result is valid until the next call.
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

// compatible reports whether two bodies have the same checksum, or the first has none.
func (m *merger) compatible(first, second []Record) bool {
	if m.metadata {
		return true
	}
	checksum := find(first, KindChecksum)
	return checksum == 0 || checksum == find(second, KindChecksum)
}

// step moves a record, with its targets or its inlined body, from one of the bodies or from both to
// the result.
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

// recordLength returns the number of records in body[0] with its targets or its inlined body.
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

// both appends the sum of two records of the same place.
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

// targets appends the sum of two lists of targets.
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
		m.out = m.out[:start+len(m.joinTargets(m.out[start:]))]
	}
	sortTargets(m.out, m.compare)
}

// joinTargets combines targets of the same name. The order of the result is unspecified.
func (m *merger) joinTargets(targets []Record) []Record {
	slices.SortFunc(targets, func(s, t Record) int { return cmp.Compare(s.Name, t.Name) })
	joined := targets[:0]
	for _, t := range targets {
		if n := len(joined); n > 0 && joined[n-1].Name == t.Name {
			joined[n-1].Count = m.add(joined[n-1].Count, t.Count)
		} else {
			joined = append(joined, t)
		}
	}
	return joined
}

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
// rounded to nearest and saturating. Like LLVM, it drops bodies whose checksum differs from the
// checksum of that body in the profile, and returns their number. Of a file, it keeps only the
// sections and one function in memory. After an error other than [ErrMixed], the profile is
// incomplete and must not be used.
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

// flags returns an empty profile with the kind of the file.
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

// A translation converts name indexes of another profile to those of p.
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

// function translates a function in place, except for its context, which it copies.
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

// An arranger sorts the records of a function into canonical order and combines records of the same
// place. It takes O(n log n), however deep bodies nest.
//
// It works level by level, so that the contents of several bodies that are combined into one are
// sorted together.
type arranger struct {
	adder
	compare func(s, t NameRef) int
	records []Record      // in their original order
	level   []levelRecord // the records of the current depth
	next    []levelRecord // the records one level deeper
	places  []mergedPlace
	stack   []span
}

// A levelRecord is a record of the level being sorted.
type levelRecord struct {
	record uint32
	parent uint32 // place of the body that contains the record
}

// A mergedPlace is a record of the result.
type mergedPlace struct {
	record      uint32 // the first record at this place, into which the others have been combined
	first, last uint32 // range of the places within it; none if last is 0
}

// A span is a range of places being written.
type span struct {
	next, last uint32
	head       int // index in the result of the body's head; -1 for the function itself
}

// arrange appends the sorted records of a body to out. It changes the counts of records.
func (a *arranger) arrange(out, records []Record) []Record {
	a.records = records
	a.places = append(a.places[:0], mergedPlace{})
	a.level = a.children(a.level[:0], 0, len(records), 0)
	for len(a.level) > 0 {
		a.arrangeLevel()
		a.level, a.next = a.next, a.level[:0]
	}
	return a.emit(out)
}

// children appends the records between start and end that are not nested in others.
func (a *arranger) children(items []levelRecord, start, end int, parent uint32) []levelRecord {
	for i := start; i < end; i += a.records[i].span() {
		items = append(items, levelRecord{record: uint32(i), parent: parent})
	}
	return items
}

func (a *arranger) arrangeLevel() {
	slices.SortStableFunc(a.level, func(s, t levelRecord) int {
		if s.parent != t.parent {
			return cmp.Compare(s.parent, t.parent)
		}
		return compareSiblings(&a.records[s.record], &a.records[t.record], a.compare)
	})
	for i, it := range a.level {
		r := &a.records[it.record]
		if i > 0 && a.level[i-1].parent == it.parent && compareSiblings(&a.records[a.level[i-1].record], r, a.compare) == 0 {
			first := &a.records[a.places[len(a.places)-1].record]
			first.Count = a.combine(r.Kind, first.Count, r.Count)
		} else {
			a.places = append(a.places, mergedPlace{record: it.record})
			parent := &a.places[it.parent]
			parent.last = uint32(len(a.places) - 1)
			if parent.first == 0 {
				parent.first = parent.last
			}
		}
		if r.Kind == KindInlined {
			at := int(it.record)
			a.next = a.children(a.next, at+1, at+r.span(), uint32(len(a.places)-1))
		}
	}
}

// combine returns the combined count of two records of the same place. Counts are added. Of
// checksums and attributes the later one wins.
func (a *arranger) combine(kind Kind, first, second uint64) uint64 {
	if kind >= KindChecksum {
		return second
	}
	return a.add(first, second)
}

// emit appends the places in order, each body directly after its head.
func (a *arranger) emit(out []Record) []Record {
	a.stack = append(a.stack[:0], span{next: a.places[0].first, last: a.places[0].last, head: -1})
	for len(a.stack) > 0 {
		top := &a.stack[len(a.stack)-1]
		if top.next == 0 || top.next > top.last {
			if top.head >= 0 {
				out[top.head].Span = uint32(len(out) - top.head - 1)
			}
			a.stack = a.stack[:len(a.stack)-1]
			continue
		}
		p := &a.places[top.next]
		top.next++
		r := a.records[p.record]
		if r.Kind >= KindChecksum && r.Count == 0 {
			continue // an empty body of metadata
		}
		out = append(out, r)
		switch r.Kind {
		case KindInlined:
			a.stack = append(a.stack, span{next: p.first, last: p.last, head: len(out) - 1})
		case KindTarget:
			if top.next > top.last || !a.target(top.next) || a.records[a.places[top.next].record].where() != r.where() {
				sortTargets(out, a.compare)
			}
		}
	}
	return out
}

func (a *arranger) target(place uint32) bool {
	return a.records[a.places[place].record].Kind == KindTarget
}

// sortTargets sorts the targets at the end of records, which all belong to one location.
func sortTargets(records []Record, compare func(s, t NameRef) int) {
	first := len(records)
	for first > 0 && records[first-1].Kind == KindTarget {
		first--
	}
	targets := records[first:]
	slices.SortFunc(targets, func(s, t Record) int { return compareTargets(&s, &t, compare) })
}
