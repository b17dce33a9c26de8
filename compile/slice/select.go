package slice

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/profile"
)

// A Target is the kind of compiler for which a slice of a profile is made, given by the version of
// the format that the compiler reads.
type Target uint8

// These are the targets. A slice omits what its target does not read.
const (
	Version2 Target = 2 // GCC 12 to 15
	Version3 Target = 3 // GCC 16, and whatever reads version 4
)

// ForClang is the target of slices that are converted to profiles of LLVM. Clang finds functions by
// their names alone, as GCC 12 does.
const ForClang = Version2

// A Request says which part of a profile [Program.Select] should return.
type Request struct {
	// Text is the text that the compile reads. If it is not nil, the slice contains the functions
	// that the text may define, in whatever unit the profile has them. Paths need not match.
	Text *Text

	// Units are the paths of units in the profile, see [Program.Match]. The slice contains all of
	// their functions as well. Paths that the profile does not have are ignored.
	Units []string

	Target Target // must be one of those above

	// Sources reports whether the slice should contain information about the source of a unit, by
	// which counts can be moved after an edit, see [profile.Marks]. It is called with the unit's
	// path and the checksum of its file, for each unit of which the profile has such information.
	// Nil means no.
	Sources func(path string, sum uint32) bool

	// Edited reports whether the compile reads the file of a unit and the file has been edited: it
	// no longer has the given checksum, which is in the profile. It is called for each unit with a
	// checksum. If it returns true for any, functions of the Text are also found if the edit has
	// renamed inline namespaces. Nil means that no file was edited.
	Edited func(path string, sum uint32) bool

	// Gone is called for each function of an edited unit whose name is not in the Text any more, if
	// the profile has marks of its source lines. The slice contains the function nevertheless,
	// because it may have been renamed. Gone must not be nil if Edited is not.
	Gone func(path, symbol string)

	// Evidence adds the profile's evidence about the slice's functions to the slice, if the profile
	// has any, see [profile.Evidence].
	Evidence bool

	// Bits, unless 0, is the number of significant bits to which counts are rounded. It must not be
	// negative.
	Bits int
}

// errRequest is wrapped by errors about a field of a [Request] with an invalid value.
var errRequest = errors.New("bad request")

func (q *Request) check() error {
	if q.Target != Version2 && q.Target != Version3 {
		return fmt.Errorf("slice: %w: the target is %d, not %d or %d", errRequest, q.Target, Version2, Version3)
	}
	return checkBits(q.Bits)
}

// checkBits returns an error if bits is negative. A slice has its counts rounded to that number of
// significant bits.
func checkBits(bits int) error {
	if bits < 0 {
		return fmt.Errorf("slice: %w: %d significant bits", errRequest, bits)
	}
	return nil
}

// Select returns the slice for a compile. It contains the functions that q asks for, the functions
// that the compiler may confuse with one of them because they share a name, and for [Version3] the
// inlined bodies of these functions in other functions. Its summary is that of [Program.Summary].
//
// Without a Text, Select does not know which functions the compile defines besides those of its
// units. It includes all symbols whose file is unknown, and all functions that the units' functions
// inline.
//
// An empty slice is a valid profile, too. An error is about the request, or about reading the
// profile. A profile that refers to a missing symbol is [afdo.ErrMalformed].
//
// The first call on a Program without an index reads all of its names, and the first call for
// Version3 reads all records.
func (p *Program) Select(q Request) (*profile.Profile, error) {
	s, err := p.selectSymbols(q, true)
	if err != nil {
		return nil, err
	}
	return s.profile(q)
}

// Whole returns the whole profile, for compiles whose functions are unknown. Unless bits is 0,
// counts are rounded to that number of significant bits.
func (p *Program) Whole(bits int) (*profile.Profile, error) {
	if err := checkBits(bits); err != nil {
		return nil, err
	}
	s := newSelection(p, nil)
	for unit := range p.whole.Store.NumUnits() {
		s.units = append(s.units, unit)
		for sym, err := range p.whole.Store.Symbols(unit) {
			if err != nil {
				return nil, err
			}
			s.own.Add(sym.ID)
			s.symbols = append(s.symbols, sym)
		}
	}
	if err := s.addNames(); err != nil {
		return nil, err
	}
	return s.profile(Request{Bits: bits})
}

// selectSymbols finds the symbols that the slice for a request contains, and their samples. If
// condense is true, it reduces functions of other units to what GCC uses of them, see
// [selection.condenseCallers]. Select passes true, and Fingerprint passes false.
func (p *Program) selectSymbols(q Request, condense bool) (*selection, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	s := newSelection(p, q.Text)
	if err := s.addUnits(q); err != nil {
		return nil, err
	}
	if err := s.closeOwn(); err != nil {
		return nil, err
	}
	if q.Text != nil {
		if err := s.addText(q.Edited != nil); err != nil {
			return nil, err
		}
		if err := s.addGone(q); err != nil {
			return nil, err
		}
	}
	if q.Target != Version2 {
		if err := s.addCallers(condense); err != nil {
			return nil, err
		}
	}
	if err := s.addNames(); err != nil {
		return nil, err
	}
	if q.Target == Version2 && q.Text != nil { // without a text, names for the assembler are not known
		s.dropUnusedNames()
	}
	return s, nil
}
