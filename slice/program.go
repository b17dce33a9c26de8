package slice

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/slice/internal/pathmatch"
	"github.com/go-afdo/afdo/slice/internal/program"
)

// A Program is a whole profile of which slices are taken. Its methods may be
// called from many goroutines.
//
// It keeps what questions about the whole program need once one has been asked: some 30 bytes a
// symbol for the names, and 8 for each function inlined into another.
type Program struct {
	whole    *program.Program
	implicit *implicitFunctions // nil where a slice or two are all that is taken
}

// FromProfile returns the program of a profile in memory, which must not change any more.
func FromProfile(p *profile.Profile) *Program {
	return &Program{whole: program.FromProfile(p), implicit: new(implicitFunctions)}
}

// FromReader returns the program of a version 4 file. Of the records it reads
// those that a slice holds, and for [Version3] all; of the names all, once.
// The Reader stays the caller's to close.
func FromReader(r *afdo.Reader) (*Program, error) {
	whole, err := program.FromReader(r)
	if err != nil {
		return nil, err
	}
	return &Program{whole: whole}, nil
}

// Units iterates over the paths of the program's units, those of symbols with unknown file left
// out.
func (p *Program) Units() iter.Seq[string] {
	return func(yield func(string) bool) {
		for unit := range p.whole.Store.NumUnits() {
			if path := p.whole.Store.Path(unit); path != "" && !yield(path) {
				return
			}
		}
	}
}

// Match finds the units of source files. Paths that are not absolute are of
// the folder dir, which is absolute.
//
// A unit of exactly that path comes first, as it is, cleaned, or joined to dir. Else a file is a
// unit whose path ends in the file's path from dir, less any "../" before it, or one of a relative
// path in which the file's full path ends; either at a '/'. Of several the one that agrees with the
// full path in most elements is meant.
//
// It takes one look at each unit.
func (p *Program) Match(paths []string, dir string) []Match {
	units := pathmatch.Find(paths, dir, p.Units())
	matches := make([]Match, len(paths))
	for i, name := range paths {
		matches[i] = Match{Path: name, Units: units[i]}
	}
	return matches
}

// HasFunctions reports whether the unit of a path has functions with samples, and not only names
// that other units mention. It reads the symbol names of the unit until one has. The error is that
// of a faulty file.
func (p *Program) HasFunctions(path string) (bool, error) {
	for _, unit := range p.whole.ByPath()[path] {
		for s, err := range p.whole.Store.Symbols(unit) {
			if err != nil || s.HasInfo {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// A Match is what a path of a source file means in a profile.
type Match struct {
	Path string

	// Units are the paths of the units that fit best: one usually, none if the profile knows
	// nothing of the file, several if the choice is ambiguous.
	Units []string
}

// Names is how slices find symbols by unqualified name. A version 4 file whose index has these
// names, see index.Options, lets [FromReader] do without a look at all names and records, if the
// Reader trusts it.
var Names = program.Names
