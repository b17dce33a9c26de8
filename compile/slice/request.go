package slice

import (
	"errors"
	"fmt"
)

// A Target is the kind of compiler that reads a slice, named by its version of the format.
type Target uint8

// These are the targets. A slice leaves out what its target does not read.
const (
	Version2 Target = 2 // GCC 12 to 15
	Version3 Target = 3 // GCC 16, and whatever reads version 4
)

// ForClang is the target of slices that become profiles of LLVM. Clang looks for functions by their
// names alone, as GCC 12 does.
const ForClang = Version2

// A Request says what a slice is to hold.
type Request struct {
	// Text is what the compile reads. With it, the slice has the functions that this may define, in
	// whatever unit the profile has them; paths need not agree.
	Text *Text

	// Units are the paths of units as they are in the profile, see [Program.Match]. The slice has
	// all of their functions, too. Paths that the profile does not have are passed over.
	Units []string

	Target Target // must be one of those above

	// Sources is asked for each unit with functions of the slice that the profile remembers, with
	// its path and the unit's sum, whether the slice is to remember them, too; see [profile.Marks].
	// Nil is no.
	Sources func(path string, sum uint32) bool

	// Edited reports whether the Text contains the file of a unit and the file no longer has the
	// given sum, which the profile contains. It is called for each unit with a sum. Functions of
	// the Text are then looked for under other names, too. Nil reports that no file was edited.
	Edited func(path string, sum uint32) bool

	// Gone is called for each function of an edited unit that has marks in the profile and whose
	// name no function of the Text has. The slice contains the function all the same. Gone must not
	// be nil if Edited is not.
	Gone func(path, symbol string)

	// Evidence gives the slice the evidence about its functions, if the profile has some.
	Evidence bool

	// Bits, unless 0, is to how many significant bits counts are rounded. It is not negative.
	Bits int
}

// errRequest is wrapped by errors about a field of a [Request] that has no such value.
var errRequest = errors.New("bad request")

func (q *Request) check() error {
	if q.Target != Version2 && q.Target != Version3 {
		return fmt.Errorf("slice: %w: the target is %d, not %d or %d", errRequest, q.Target, Version2, Version3)
	}
	return checkBits(q.Bits)
}

func checkBits(bits int) error {
	if bits < 0 {
		return fmt.Errorf("slice: %w: %d significant bits", errRequest, bits)
	}
	return nil
}
