package afdo

import (
	"math"

	"github.com/go-afdo/afdo/internal/v4"
)

// DefaultMaxNameBytes is the default of [MaxNameBytes], in bytes.
const DefaultMaxNameBytes = 256 << 20

// An Option configures a [Reader].
type Option func(*options)

type options struct {
	v4.Options
	maxNameBytes int
}

func newOptions(opts []Option) options {
	all := options{maxNameBytes: DefaultMaxNameBytes}
	for _, o := range opts {
		if o != nil {
			o(&all)
		}
	}
	if all.maxNameBytes < 0 || uint64(all.maxNameBytes) > math.MaxUint32 {
		all.maxNameBytes = math.MaxUint32 & math.MaxInt
	}
	return all
}

// MaxNameBytes limits the total length of all symbol names in a unit to n bytes, because a string
// table of a few megabytes can expand to gigabytes of names. The default is [DefaultMaxNameBytes].
// Values above 4 GiB or below 0 mean 4 GiB.
//
// A lookup fails with [ErrLimit] if
//   - the names of the unit exceed n bytes or
//   - the names of all units read so far exceed 4n bytes plus eight times the file size.
//
// In addition, each of the two is limited to 64 times the file size plus 16 MiB. A string table
// shared by several units counts once.
func MaxNameBytes(n int) Option {
	return func(o *options) { o.maxNameBytes = n }
}

// TrustIndex makes the Reader use the index at the end of the file, if there is one (see package
// index). Opening then reads a few pages of the index instead of the section table, and a lookup
// reads only the unit it finds. A malformed section table is reported by the call that first reads
// it, not by Open.
//
// A lookup verifies the unit to which the index leads. But a crafted index can hide a unit, make
// UnitBySuffix return a unit although others match as well, or, together with a section table that
// is not in file order, return the samples of another function. A Reader from [NewReader] also
// believes what the index states about the header, the units' entries and the places of their
// sections; it verifies their bytes by checksum. Without TrustIndex, an index never changes an
// answer.
func TrustIndex() Option {
	return func(o *options) { o.TrustIndex = true }
}

// SkipChecksums disables the comparison of sections with the checksums in the index. Open then
// reads the section table even with [TrustIndex].
func SkipChecksums() Option {
	return func(o *options) { o.SkipChecksums = true }
}

// RequireChecksums rejects a file with [ErrChecksum] if it has no checksums, or if its index is
// damaged or belongs to another file. It cancels [SkipChecksums].
func RequireChecksums() Option {
	return func(o *options) { o.SkipChecksums, o.RequireChecksums = false, true }
}
