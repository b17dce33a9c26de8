// Package check finds what is wrong with profiles of any format.
//
// [File] looks at the whole of a file, whatever its format, and yields a [Problem] for each thing
// that is wrong or odd, with its place. [Fold] makes one line of problems that repeat.
package check

import (
	"cmp"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/v4"
)

// A Problem is something that a check finds.
type Problem struct {
	// Err says what it is and where: an [afdo.FormatError] or a [SummaryError], or another error
	// with which the reader of the format gives up.
	Err error

	// Remark is set if it is unusual, but legal, and not a fault.
	Remark bool
}

// Options say how a file is checked. The zero Options are fine.
type Options struct {
	// Unqualified has the unqualified names of an index made with this scheme compared.
	Unqualified index.Scheme

	// MaxNameBytes is the bound that readers have, see [afdo.MaxNameBytes], the default of which 0
	// means.
	MaxNameBytes int
}

// maxNameBytes is what the names of one unit may take.
func (k *checker) maxNameBytes() int {
	return v4.MaxNameBytes(cmp.Or(k.opts.MaxNameBytes, afdo.DefaultMaxNameBytes), int64(len(k.data)))
}
