package slice

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A symbolID names a symbol of a program: the symbol ID of a file, or the
// reference of a profile in memory.
type symbolID uint32

// A symbol is a name in a unit.
type symbol struct {
	id   symbolID
	unit int
	name string
	info bool // it has samples of its own
}

// A source is where a program's units and records come from.
type source interface {
	numUnits() int
	path(unit int) string
	symbols(unit int) iter.Seq2[symbol, error]
	symbol(id symbolID) (symbol, error)

	// function returns the samples of a symbol that has them. The callees of the
	// records are symbolIDs, and the records are canonical with these. They must not be changed.
	function(s symbol, scratch *scratch) (profile.Function, error)

	// inlinings calls yield for every symbol with samples, with the functions
	// inlined there, which may come twice and are the source's again when yield returns.
	inlinings(yield func(caller symbolID, callees []symbolID)) error

	// summary returns the summary of the whole profile, which the caller must not change.
	summary() (*afdo.Summary, error)
}

// A scratch is memory that reading functions one after the other shares.
type scratch struct {
	cursor afdo.Cursor
	body   profile.Body
}
