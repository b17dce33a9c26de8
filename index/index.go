// Package index reads and writes the index that a version 4 file may end in, an extension of this
// project that other readers skip (docs/extensions.md), and answers questions about the whole
// program with it or without.
//
// [Write] gives a file an index, and [Read] returns what the index says of itself. A [Program]
// finds symbols by name and what was inlined where, wherever in the file that is. For a Reader that
// was opened with [afdo.TrustIndex] it reads what the index leads to and little else; for others it
// goes through the file and gives the same answers, as long as the index is true.
package index

import (
	"github.com/go-afdo/afdo"
	v4 "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
)

// An Index is the index of a file. All methods may be called from many goroutines.
type Index struct {
	r *afdo.Reader
	x *v4.Index
}

// Read opens the index of a file. The error is [afdo.ErrNotFound] if the file has none,
// [afdo.ErrIndex] for one that is of another version or of another file than this one is now, and
// [afdo.ErrChecksum] for one that is damaged. It reads the first page of the index, of 1024 bytes,
// unless that has been read.
func Read(r *afdo.Reader) (*Index, error) {
	x, err := v4.FileOf(r).Index()
	if err != nil {
		return nil, v4.Public(r, err)
	}
	return &Index{r, x}, nil
}

// Trusted reports whether the Reader was opened with [afdo.TrustIndex].
func (x *Index) Trusted() bool { return v4.FileOf(x.r).TrustsIndex() }

// wrap makes an error of package afdo of one of the index, with its place in the file.
func (x *Index) wrap(err error) error { return v4.Public(x.r, x.x.Fault(err)) }

// An Info is what an index says of itself.
type Info struct {
	Section  afdo.Section
	Producer string // what wrote the file, empty if it does not say
	BuildID  []byte // of the program that was profiled, nil if unknown

	// Unqualified and Fingerprints are the names of the schemes of these, empty if the index has
	// none. See [Scheme] and [Index.Fingerprint].
	Unqualified, Fingerprints string

	Blocks []Block // what the index consists of, in its order
}

// A Block is a part of an index.
type Block struct {
	Kind string // what it holds, such as "names"
	Size int64  // in bytes
}

// Info returns what the index says of itself. It reads the pages that have the strings.
func (x *Index) Info() (*Info, error) {
	s := x.x.Section
	info := &Info{Section: afdo.Section{
		Index: s.Index, Type: afdo.SectionIndex, Compact: s.Compact, Offset: s.Offset, Size: s.Size,
	}}
	for _, b := range x.x.Blocks() {
		info.Blocks = append(info.Blocks, Block{b.Kind.String(), b.Size})
	}
	producer, err := x.x.All(indexfmt.Producer)
	if err != nil {
		return nil, x.wrap(err)
	}
	info.Producer = string(producer)
	if info.BuildID, err = x.x.All(indexfmt.BuildID); err != nil {
		return nil, x.wrap(err)
	}
	if info.Unqualified, err = x.x.Scheme(indexfmt.Unqualified); err != nil {
		return nil, x.wrap(err)
	}
	if info.Fingerprints, err = x.x.Scheme(indexfmt.Fingerprints); err != nil {
		return nil, x.wrap(err)
	}
	return info, nil
}

// Fingerprint returns the key of a unit that the writer of the index has put into it: a number that
// is the same as long as what the profile says of the unit is. What exactly goes into it is told by
// its scheme, see [Info]. It is compared with nothing. The error is [afdo.ErrNotFound] if the index
// has no fingerprints.
func (x *Index) Fingerprint(u *afdo.Unit) (uint64, error) {
	if !x.x.Has(indexfmt.Fingerprints) {
		return 0, errNoFingerprints
	}
	key, err := x.x.Fingerprint(u.Index())
	return key, x.wrap(err)
}
