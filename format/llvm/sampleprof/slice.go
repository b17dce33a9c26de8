package sampleprof

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-afdo/afdo"
)

// A Slice is the part of a profile that the compile of one module uses.
type Slice struct {
	// Summary is the summary of the whole profile, or one that replaces it.
	Summary *afdo.Summary

	profile *Profile
	names   []NameRef // names that the slice keeps without samples
	uniq    bool      // the whole profile has names with unique internal linkage
}

// NewSlice returns a slice with the functions of p and the summary of a whole profile. It keeps
// references to both.
func NewSlice(p *Profile, summary *afdo.Summary) *Slice {
	return &Slice{profile: p, Summary: summary}
}

// NumFunctions returns the number of functions, counting each context.
func (s *Slice) NumFunctions() int { return s.profile.NumFunctions() }

// Slice returns the part of a file that clang reads for a module: the functions whose names are
// wanted and, in a context-sensitive profile, all contexts that contain such a function. The slice
// has the flags of the whole profile and its summary, from which clang computes thresholds.
//
// If the file has a symbol list, the slice keeps the wanted names on the list. It also keeps the
// wanted names of the names section, because clang treats a function on the symbol list as cold
// unless the file contains its name.
//
// Slice reads names, contexts, function offsets, and only the wanted bodies. If the file stores
// MD5s instead of names, the error matches [ErrHashed]. If it has no summary, the error matches
// afdo.ErrNotFound.
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
	if s.Summary, err = r.Summary(); err != nil {
		return nil, fmt.Errorf("sampleprof: summary: %w", err)
	}
	keep := make([]bool, r.names.len())
	for i := range keep {
		keep[i] = wanted(r.names.name(NameRef(i)).Text)
	}
	if _, err := s.profile.addAll(r, r.selected(keep), unweighted); err != nil {
		return nil, err
	}
	return s, s.addNames(r, keep, wanted)
}

// addNames adds to the slice the wanted names of the file's symbol list. It also adds the wanted
// names of the names section. Clang looks these up if there is a symbol list. keep[i] is set if
// name i of the file is wanted.
func (s *Slice) addNames(r *Reader, keep []bool, wanted func(string) bool) error {
	s.uniq = r.HasUniqueNames()
	list, err := r.symbolList()
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

// selected yields the functions of the file that a slice contains, see [Reader.Slice]. keep[i] is
// set if name i of the file is wanted. If the file has function offsets, selected reads no other
// functions.
func (r *Reader) selected(keep []bool) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for _, g := range r.groups {
			for f, err := range r.selectedIn(g, keep) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

// selectedIn yields the functions of one section of function records that a slice contains, see
// [Reader.selected].
func (r *Reader) selectedIn(g *bodies, keep []bool) iter.Seq2[*Function, error] {
	wanted := func(ref uint32) bool { return r.isKept(ref, keep) }
	if g.offsets == nil {
		return r.scan(g, wanted)
	}
	return func(yield func(*Function, error) bool) {
		if err := r.loadOffsets(g); err != nil {
			yield(nil, err)
			return
		}
		for _, e := range g.table {
			if !wanted(e.ref) {
				continue
			}
			if f, err := r.functionAt(g, e); !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// isKept reports whether a slice contains a function. ref is the index of the function's name or,
// in a context-sensitive profile, of its context. keep[i] is set if name i of the file is wanted. A
// context is in the slice if any function in it is wanted, because clang reads it then.
func (r *Reader) isKept(ref uint32, keep []bool) bool {
	if r.contexts == nil {
		return keep[ref]
	}
	return slices.ContainsFunc(r.contexts.at(ref), func(frame Frame) bool { return keep[frame.Name] })
}

// Write writes the slice as an ExtBinary file. The same slice always gives the same bytes.
func (s *Slice) Write(w io.Writer) error {
	f, err := newFileWriter(s.profile, true, s.names...)
	if err != nil {
		return err
	}
	f.summary, f.uniq = s.Summary, s.uniq
	f.layOut()
	return f.write(w)
}
