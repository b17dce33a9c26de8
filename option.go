package afdo

import (
	"math"

	"github.com/go-afdo/afdo/internal/v4"
)

// DefaultMaxNameBytes is the default of [MaxNameBytes].
const DefaultMaxNameBytes = 256 << 20

// An Option changes how a [Reader] works.
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

// MaxNameBytes bounds the length of all symbol names of a unit together; a string table of a few
// megabytes can spell gigabytes. A unit that exceeds the bound gives [ErrLimit], and so do further
// units once all that were read exceed four times the bound and eight times the file. Neither may
// exceed 64 times the file and 16 MiB. A string table that units share counts once. The default is
// [DefaultMaxNameBytes]; values above 4 GiB or below 0 mean 4 GiB.
func MaxNameBytes(n int) Option {
	return func(o *options) { o.maxNameBytes = n }
}

// TrustIndex makes lookups use the index at the end of the file (see package index), if there is
// one: opening reads a few pages of it instead of the section table, and the first lookups of units
// read no other units. A fault of the section table is then the error of the call that finds it.
//
// A lookup verifies what the index leads to. But whoever writes the file can make it miss a unit,
// find one by a part of its path or, with a section table out of order, give the samples of another
// function. A Reader of [NewReader] believes what the index says of the header, of the entries of
// units and of the places of their sections, and verifies the bytes of these. Without TrustIndex no
// index changes an answer.
func TrustIndex() Option {
	return func(o *options) { o.TrustIndex = true }
}

// SkipChecksums does not compare sections to the checksums in the index of the file. With it, Open
// reads the section table in spite of [TrustIndex].
func SkipChecksums() Option {
	return func(o *options) { o.SkipChecksums = true }
}

// RequireChecksums refuses, with [ErrChecksum], a file without checksums or with a damaged or
// foreign index. It undoes [SkipChecksums].
func RequireChecksums() Option {
	return func(o *options) { o.SkipChecksums, o.RequireChecksums = false, true }
}
