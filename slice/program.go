package slice

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/slice/internal/pathmatch"
	"github.com/go-afdo/afdo/slice/internal/program"
)

// A Program is a whole profile from which slices are taken. Its methods may be called from many
// goroutines.
//
// After the first question about the whole program, it keeps the data for further ones: some 30
// bytes for each symbol for the names, and 8 for each function inlined into another.
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

// Units iterates over the paths of the program's units, except the unit of symbols with unknown
// file.
func (p *Program) Units() iter.Seq[string] {
	return func(yield func(string) bool) {
		for unit := range p.whole.Store.NumUnits() {
			if path := p.whole.Store.Path(unit); path != "" && !yield(path) {
				return
			}
		}
	}
}

// Match finds the units of source files. Paths that are not absolute are relative to the folder
// dir, which is absolute.
//
// First choice is the unit with exactly that path, as it is, cleaned, or joined to dir. Otherwise a
// file matches a unit whose path ends in the file's path from dir, without leading "../", and a
// unit with a relative path in which the file's full path ends. Both ends begin at a '/'. If
// several units match, the one that shares the most elements with the end of the full path is
// taken.
//
// It looks at each unit once.
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
