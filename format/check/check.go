// Package check finds problems in profiles of any format.
//
// [File] reads a whole file of any format. It yields an [afdo.Problem] with its position for
// everything that is wrong or unusual. [Fold] groups problems that repeat.
package check

import (
	"cmp"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile/index"
)

// Options configure a check. The zero Options are the default.
type Options struct {
	// Index returns the options with which the file's index should have been written. If the file
	// has no other errors, the parts of the index that depend on these options are compared with
	// them, see [index.Check]. If Index is nil, these parts are not compared.
	Index func(*afdo.Reader) (*index.Options, error)

	// Notes are the contents of the .gcno file of a .gcda file, with which its functions are
	// compared, or nil.
	Notes []byte

	// MaxNameBytes is the limit on names in bytes, see [afdo.MaxNameBytes]. 0 means the default.
	MaxNameBytes int
}

// maxNameBytes returns the limit on the total length of the names of one unit, in bytes.
func (k *checker) maxNameBytes() int {
	return v4.MaxNameBytes(cmp.Or(k.opts.MaxNameBytes, afdo.DefaultMaxNameBytes), int64(len(k.data)))
}
