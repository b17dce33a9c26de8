package slice

import (
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/internal/symname"
)

// dropUnusedNames removes symbols without samples from a slice for version 2 if GCC 12 to 15 behave
// the same without their names.
//
// These compilers look a function up by its assembler name, cut at the first '.', then by its
// unqualified name, and then in the same way the function from which it was cloned. The first name
// that is in the profile's table of names ends the search, whether there are samples under it or
// not. So a name without samples, to which no record refers, only matters to a function with that
// name whose search would otherwise find a name with samples. A search continues
//
//   - from the assembler name to the unqualified one, which is in the table only if a function has
//     a name that is not mangled;
//   - to the assembler name of the original. Only constructors and destructors have other ones
//     there, C4 and D4; clones of all other functions share what is before the '.'.
//
// All of these have the same unqualified name. So names that are not mangled matter without samples
// only where a constructor or destructor of that name has some. A function with an explicit
// assembler name is an exception, and its name stays.
//
// Inside of a function, an inlined function is looked up by all of these names in turn, and the
// callee of a call by its assembler name. A name without records is never found there, so it is not
// missed.
func (s *selection) dropUnusedNames() {
	uses := s.nameUses()
	s.symbols = slices.DeleteFunc(s.symbols, func(sym program.Symbol) bool {
		cut := symname.Canonical(sym.Name)
		key := s.Index.KeyOf(cut)
		if uses.used[cut] || key == "" || key == cxx.OddKey || key == cxx.ConversionKey || s.text.isLabel(cut) {
			return false
		}
		if cxx.IsMangled(cut) {
			return !uses.usedKeys[key] || !uses.plainKeys[key] && !mayBeStructor(cut)
		}
		return !uses.structors[key]
	})
}

// A nameUses has sets of names in a slice of a profile, which decide whether a name matters to the
// compiler. The names in used are canonical names. Those in the other sets are unqualified names.
type nameUses struct {
	used      map[string]bool // canonical names with samples, or to which a record refers
	usedKeys  map[string]bool // unqualified names of those in used
	plainKeys map[string]bool // unqualified names of symbols that are not mangled
	structors map[string]bool // unqualified names of those in used that may be constructors or destructors
}

// nameUses finds out which names in the slice matter to the compiler.
func (s *selection) nameUses() nameUses {
	u := nameUses{make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]bool)}
	for _, sym := range s.symbols {
		cut := symname.Canonical(sym.Name)
		key := s.Index.KeyOf(cut)
		if _, sampled := s.samples[sym.ID]; sampled || s.referred.Has(sym.ID) {
			u.used[cut], u.usedKeys[key] = true, true
			u.structors[key] = u.structors[key] || cxx.IsMangled(cut) && mayBeStructor(cut)
		}
		if !cxx.IsMangled(cut) {
			u.plainKeys[key] = true
		}
	}
	return u
}

// mayBeStructor reports whether a mangled name may be that of a constructor or destructor.
func mayBeStructor(name string) bool {
	for i := range len(name) - 1 {
		switch name[i] {
		case 'C':
			if strings.IndexByte("12345I", name[i+1]) >= 0 {
				return true
			}
		case 'D':
			if strings.IndexByte("01245", name[i+1]) >= 0 {
				return true
			}
		}
	}
	return false
}
