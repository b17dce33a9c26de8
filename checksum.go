package afdo

import (
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// SkipChecksums reads sections without comparing them to the checksums that
// the index of the file has of them (see docs/extensions.md). What is damaged is
// then noticed only where it breaks the format. Pages of the index
// itself that are damaged are not used.
func SkipChecksums() Option {
	return func(o *options) { o.skipChecksums = true }
}

// RequireChecksums refuses to open a file that has no checksums of its
// sections, or whose index is damaged or not that of this file, with [ErrChecksum].
// It also undoes [SkipChecksums].
func RequireChecksums() Option {
	return func(o *options) { o.skipChecksums, o.requireChecksums = false, true }
}

// IgnoreIndex opens the file and makes lookups as if it had no index. Checksums are
// compared all the same. Whoever makes an index can leave things out of it so
// that lookups do not find them, or make another order of the sections believed, which takes a [Reader.Check] to find out: this is for files of which
// the profile is trusted, but not the index.
func IgnoreIndex() Option {
	return func(o *options) { o.ignoreIndex = true }
}

// sectionSum is the checksum of the bytes of a section.
func sectionSum(data []byte) uint32 { return uint32(xxhash.Sum64(data)) }

// requireChecksums is the error of a file that has no checksums which can be used.
func (r *Reader) requireChecksums() error {
	x, err := r.openIndex()
	switch {
	case err != nil:
		return err
	case x.unfit == nil && x.checked != nil:
		return nil
	case isChecksum(x.unfit):
		return x.unfit
	}
	why := "the file has none"
	if e, ok := x.unfit.(*FormatError); ok {
		why = e.Detail
	}
	return Section{Index: HeaderSection}.errorAt(0, ErrChecksum, "checksums are required: %s", why)
}

// verify compares the bytes of a section with its checksum, if the file has
// one and that has not been done.
func (r *Reader) verify(index int, e extent, data []byte) error {
	if r.opts.skipChecksums {
		return nil
	}
	x, err := r.index()
	if x == nil || x.checked == nil || index == x.sec.Index {
		return err
	}
	word, bit := &x.checked[index/32], uint32(1)<<(index%32)
	if atomic.LoadUint32(word)&bit != 0 {
		return nil
	}
	if err := x.compare(index, e, data); err != nil {
		return err
	}
	atomic.OrUint32(word, bit)
	return nil
}

// compare compares the bytes of a section with its checksum.
func (x *index) compare(index int, e extent, data []byte) error {
	want, err := x.checksum(index)
	if err != nil {
		return err
	}
	if got := sectionSum(data); got != want {
		return newSection(index, e, data[0]).errorAt(0, ErrChecksum, "the section should have the checksum %08x and has %08x", want, got)
	}
	return nil
}

// checksum returns the checksum of the section of an index below that of the index section.
func (x *index) checksum(index int) (uint32, error) {
	v, err := x.bits(x.byKind[blockChecksums].off+int64(index)*sumSize, 0, 8*sumSize)
	return uint32(v), err
}
