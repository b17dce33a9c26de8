package program

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// An ID names a symbol of a program: the symbol ID of a file, or the
// reference of a profile in memory.
type ID uint32

// A Symbol is a name in a unit.
type Symbol struct {
	ID      ID
	Unit    int
	Name    string
	HasInfo bool // it has samples of its own
}

// A Store has the units, names and samples of a profile.
type Store interface {
	NumUnits() int
	Path(unit int) string
	Symbols(unit int) iter.Seq2[Symbol, error]
	Symbol(id ID) (Symbol, error)

	// Function returns the samples of a symbol that has them. The callees of the
	// records are IDs, and the records are canonical with these. They must not be changed.
	Function(s Symbol, scratch *Scratch) (profile.Function, error)

	// Inlinings calls yield for every symbol with samples, with the functions
	// inlined there, which may come twice and are the store's again when yield returns.
	Inlinings(yield func(caller ID, callees []ID)) error

	// Marks returns the marks of the lines of a symbol's function, or nil if there are none.
	// UnitSum returns the sum of the file of a unit, or 0 if it is unknown, and whether its
	// functions may have marks.
	Marks(s Symbol) (profile.Marks, error)
	UnitSum(unit int) (sum uint32, ok bool, err error)

	// Summary returns the summary of the whole profile, which the caller must not change.
	Summary() (*afdo.Summary, error)
}

// A Scratch is memory that reading functions one after the other shares.
type Scratch struct {
	cursor afdo.Cursor
	body   profile.Body
}
