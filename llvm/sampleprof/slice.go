package sampleprof

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
)

// A Slice is what one compile uses of a profile.
type Slice struct {
	profile *Profile
	summary *afdo.Summary
	names   []NameRef // that are there without samples
	uniq    bool      // the whole profile has names of unique internal linkage
}

// NewSlice returns a slice that has what is in p, and the summary of a whole profile. It keeps
// both.
func NewSlice(p *Profile, summary *afdo.Summary) *Slice {
	return &Slice{profile: p, summary: summary}
}

// NumFunctions returns the number of functions, in all their contexts.
func (s *Slice) NumFunctions() int { return s.profile.NumFunctions() }

// Slice returns the part of a file that clang reads for a module: the functions whose names are
// wanted, and in a context-sensitive profile all contexts with such a function. The summary, from
// which clang computes thresholds, and all marks stay as they are. The symbol list keeps the wanted
// names. If there is a symbol list, the slice also keeps the wanted ones of all names in the file,
// since clang treats a function on the list as cold unless the file has its name.
//
// Slice reads names, contexts and function offsets, and no body that is not wanted. For a file
// whose names are MD5s the error matches [ErrHashed].
func (r *Reader) Slice(wanted func(name string) bool) (*Slice, error) {
	if err := r.all(); err != nil {
		return nil, err
	}
	if r.names.md5 != nil {
		return nil, fmt.Errorf("sampleprof: %w", ErrHashed)
	}
	s := &Slice{profile: new(Profile)}
	if err := s.profile.setKind(r.flags()); err != nil {
		return nil, err
	}
	var err error
	if s.summary, err = r.Summary(); err != nil {
		return nil, fmt.Errorf("sampleprof: summary: %w", err)
	}
	keep := make([]bool, r.names.len())
	for i := range keep {
		keep[i] = wanted(r.names.name(NameRef(i)).Text)
	}
	if err := s.addFunctions(r, keep); err != nil {
		return nil, err
	}
	return s, s.addNames(r, keep, wanted)
}

// addFunctions adds the functions whose names are to be kept.
func (s *Slice) addFunctions(r *Reader, keep []bool) error {
	t := translation{p: s.profile, refs: make([]NameRef, r.names.len()), name: r.names.name}
	m := merger{compare: s.profile.compare}
	for f, err := range r.selected(keep) {
		if err != nil {
			return err
		}
		t.function(f)
		s.profile.add(f, &m, false)
	}
	return nil
}

// addNames adds what a symbol list makes clang look at.
func (s *Slice) addNames(r *Reader, keep []bool, wanted func(string) bool) error {
	if names := r.section(SectionNames); names != nil {
		s.uniq = names.Flags&flagUniq != 0
	}
	list, err := r.SymbolList()
	if err != nil || len(list) == 0 {
		return err
	}
	for _, name := range list {
		if wanted(name) {
			s.profile.SymbolList = append(s.profile.SymbolList, name)
		}
	}
	for i, kept := range keep {
		if kept {
			s.names = append(s.names, s.profile.AddName(r.names.name(NameRef(i))))
		}
	}
	return nil
}

// selected iterates over the functions with a name to be kept, as [Reader.Functions] does. Where
// there are function offsets, nothing else is read.
func (r *Reader) selected(keep []bool) func(yield func(*Function, error) bool) {
	return func(yield func(*Function, error) bool) {
		for _, g := range r.groups {
			if !r.selectFrom(g, keep, yield) {
				return
			}
		}
	}
}

// selectFrom is selected for one section of bodies. It returns whether to go on.
func (r *Reader) selectFrom(g *bodies, keep []bool, yield func(*Function, error) bool) bool {
	if g.offsets == nil {
		return r.selectAmong(g, keep, yield)
	}
	if err := r.loadOffsets(g); err != nil {
		yield(nil, err)
		return false
	}
	for _, e := range g.table {
		if !r.refKept(e.ref, keep) {
			continue
		}
		var f *Function
		err := r.functionAt(g, e, &f)
		if !yield(f, err) || err != nil {
			return false
		}
	}
	return true
}

// selectAmong is selectFrom for bodies without function offsets.
func (r *Reader) selectAmong(g *bodies, keep []bool, yield func(*Function, error) bool) bool {
	raw, err := r.openBodies(g)
	if err != nil {
		yield(nil, err)
		return false
	}
	d := r.functionReader(*raw)
	for d.body.Rest() > 0 {
		f, err := d.next()
		if err == nil && !isKept(&f, keep) {
			continue
		}
		if !yield(&f, err) || err != nil {
			return false
		}
	}
	return true
}

func (r *Reader) refKept(ref uint32, keep []bool) bool {
	if r.contexts == nil {
		return keep[ref]
	}
	return isKept(&Function{Context: r.contexts.at(ref)}, keep)
}

// isKept tells whether clang reads a function for a module that has the names to be kept. Of
// contexts it reads those of its own functions, and what was called in these.
func isKept(f *Function, keep []bool) bool {
	if f.Context == nil {
		return keep[f.Name]
	}
	for _, frame := range f.Context {
		if keep[frame.Name] {
			return true
		}
	}
	return false
}

// Write writes the slice as an ExtBinary file. The same slice is always the same bytes.
func (s *Slice) Write(w io.Writer) error {
	f, err := newFileWriter(s.profile, true, s.names...)
	if err != nil {
		return err
	}
	f.summary, f.uniq = s.summary, s.uniq
	f.layOut()
	return f.write(w)
}
