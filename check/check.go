// Package check finds what is wrong with profiles of any format.
//
// [File] looks at the whole of a file, whatever its format, and yields an [afdo.Problem] for each
// thing that is wrong or odd, with its place. [Fold] makes one line of problems that repeat.
package check

import (
	"cmp"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile"
)

// Options say how a file is checked. The zero Options are fine.
type Options struct {
	// Unqualified has the unqualified names of an index made with this scheme compared.
	Unqualified index.Scheme

	// FingerprintScheme has the fingerprints of an index compared that were made with this scheme,
	// if the file is without fault otherwise: with what Fingerprints returns for the profile, by
	// the paths of its units. The first one that differs is a fault.
	FingerprintScheme string
	Fingerprints      func(*profile.Profile) (keyOf func(path string) (uint64, error), err error)

	// MaxNameBytes is the bound that readers have, see [afdo.MaxNameBytes], the default of which 0
	// means.
	MaxNameBytes int
}

// maxNameBytes is what the names of one unit may take.
func (k *checker) maxNameBytes() int {
	return v4.MaxNameBytes(cmp.Or(k.opts.MaxNameBytes, afdo.DefaultMaxNameBytes), int64(len(k.data)))
}
