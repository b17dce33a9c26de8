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
	// Unqualified is the scheme with which the unqualified names in an index are compared, if the
	// index uses the same scheme.
	Unqualified index.Scheme

	// FingerprintScheme and Fingerprints are used to compare the fingerprints in an index, if the
	// index uses the same scheme and the file has no other errors. Fingerprints returns a function
	// that computes the expected fingerprint from the path of a unit. The first difference is an
	// error.
	FingerprintScheme string
	Fingerprints      func(*afdo.Reader) (keyOf func(path string) (uint64, error), err error)

	// OverviewScheme and Overview are used to compare the overview in an index, if the index uses
	// the same scheme and the file has no other errors. Overview returns the expected bytes.
	OverviewScheme string
	Overview       func(*afdo.Reader) ([]byte, error)

	// Notes are the contents of the .gcno file of a .gcda file, with which its functions are
	// compared, or nil.
	Notes []byte

	// MaxNameBytes is the limit on names in bytes, see [afdo.MaxNameBytes]. 0 means the default.
	MaxNameBytes int
}

// maxNameBytes returns the limit on the names of one unit, in bytes.
func (k *checker) maxNameBytes() int {
	return v4.MaxNameBytes(cmp.Or(k.opts.MaxNameBytes, afdo.DefaultMaxNameBytes), int64(len(k.data)))
}
