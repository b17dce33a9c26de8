package indexfmt

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The first bytes of an index after the bitmask byte. The magic distinguishes it from other uses of
// this section type.
const (
	Magic   = "afdo"
	version = 1
)

// An Error describes an error in an index. Its position counts in the section.
type Error struct{ wire.Fault }

func (e *Error) Error() string {
	return fmt.Sprintf("index: byte %d: %v: %s", e.Pos, e.Class, e.Detail)
}

// Unwrap returns the class.
func (e *Error) Unwrap() error { return e.Class }

func newError(pos int, class error, format string, args ...any) error {
	return &Error{wire.Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)}}
}

// A Source provides the bytes of the section.
type Source interface {
	View(off int64, n int) ([]byte, error)

	// Ahead announces that these bytes will be read, in pieces.
	Ahead(parts ...Range)

	// Slow reports whether each read takes long, as from a server.
	Slow() bool
}

// A Range is a range of bytes of the section.
type Range struct{ Off, Size int64 }

// A File holds the properties of a file that its index must match.
type File struct {
	Sections int   // number of sections, including the index
	Span     int64 // from the start of the first section to the start of the index, which is the last section
}

// An Index is the index section of a file. It reads pages when needed and keeps them. All methods
// may be called concurrently.
type Index struct {
	src         Source
	compact     bool
	sections    int   // number of sections in the file
	sectionSize int64 // size of the index section
	size        int64 // size of its content
	units       int   // number of units in the file
	pages       []atomic.Pointer[page]
	blocks      []Block
	byKind      [numKinds]Block
	tables      [numKinds]atomic.Pointer[Table] // tables that have been opened
	copied      atomic.Pointer[copies]          // the copies block, once it has been read
}

// Is reports whether a section that begins with head is an index.
func Is(head []byte) bool {
	return len(head) > len(Magic) && head[0]&wire.SectionTypeMask == wire.Index && string(head[1:1+len(Magic)]) == Magic
}

// HeadSize is the number of bytes that [Is] needs. Every index is larger.
const HeadSize = 1 + len(Magic)

// Open opens an index section of size bytes.
func Open(src Source, size int64, compact bool, file File) (*Index, error) {
	x := &Index{src: src, compact: compact, sectionSize: size}
	if size > math.MaxUint32 {
		return nil, x.fault(0, "an index of %d bytes", size)
	}
	pages := (size + pageSize - 1) / pageSize
	x.size = size - pages*SumSize
	if size-(pages-1)*pageSize <= SumSize {
		return nil, x.fault(0, "the last page has no content")
	}
	x.pages = make([]atomic.Pointer[page], pages)
	f, err := x.fields(0, pageContent)
	if err != nil {
		return nil, err
	}
	return x, x.header(f, file)
}

func (x *Index) header(f wire.Fields, file File) error {
	f.Pos += HeadSize
	if v := f.Byte(); v != version {
		return x.fault(0, "version %d of the index, want %d", v, version)
	}
	sections, span, units := f.Uint32(), f.Uint64(), f.Uint32()
	if f.Err == nil && (int(sections) != file.Sections || int64(span) != file.Span) {
		return x.fault(0, "the index is stale: it is of a file with %d sections and %d bytes of them before it, not %d and %d",
			sections, span, file.Sections, file.Span)
	}
	if x.readBlocks(&f); f.Err != nil {
		return x.misread(0, &f)
	}
	if units > math.MaxInt32 {
		return x.fault(0, "%d units", units)
	}
	x.sections, x.units = file.Sections, int(units)
	if sums := x.byKind[Checksums]; sums.Off > 0 && sums.Size != int64(file.Sections-1)*SumSize {
		return x.fault(sums.Off, "%d bytes of checksums for %d sections", sums.Size, file.Sections-1)
	}
	return nil
}

// Has reports whether the index has a non-empty block of this kind.
func (x *Index) Has(kind Kind) bool { return x.byKind[kind].Size > 0 }

// Compact reports whether the index is in compact mode.
func (x *Index) Compact() bool { return x.compact }

// NumUnits returns the number of units that the file should have.
func (x *Index) NumUnits() int { return x.units }

// Blocks returns the blocks in order.
func (x *Index) Blocks() []Block { return x.blocks }

// fault returns an error about an offset in the content.
func (x *Index) fault(off int64, format string, args ...any) error {
	return newError(int(physical(off)), fault.ErrIndex, format, args...)
}

// misread returns the error for fields of the index that f could not decode. The fields begin at
// offset off in the content.
func (x *Index) misread(off int64, f *wire.Fields) error {
	if f.Err.Class != fault.ErrIndex {
		return newError(int(physical(off))+f.Err.Pos, fault.ErrIndex, "%v: %s", f.Err.Class, f.Err.Detail)
	}
	return newError(int(physical(off))+f.Err.Pos, f.Err.Class, "%s", f.Err.Detail)
}

// All returns the content of a block, nil if there is none.
func (x *Index) All(kind Kind) ([]byte, error) {
	b := x.byKind[kind]
	if b.Size == 0 {
		return nil, nil
	}
	return x.content(b.Off, b.Size)
}

// Scheme returns the name of the scheme at the start of a block, empty if there is no such block.
func (x *Index) Scheme(kind Kind) (string, error) {
	name, _, err := x.scheme(kind)
	return name, err
}

// scheme reads the name of a scheme at the beginning of a block, such as the way in which
// unqualified names were computed. It returns the name, and the rest of the block.
func (x *Index) scheme(kind Kind) (string, Block, error) {
	b := x.byKind[kind]
	if b.Size == 0 {
		return "", b, nil
	}
	var name string
	pos, err := x.headFields(kind, b, int(min(b.Size, 1+math.MaxUint8)), func(f *wire.Fields) {
		name = string(f.Take(int(f.Byte()), "the name of a scheme"))
	})
	if err != nil {
		return "", b, err
	}
	b.Off, b.Size = b.Off+int64(pos), b.Size-int64(pos)
	return name, b, nil
}

// SchemeData returns the name of the scheme at the start of a block, and the rest of the block.
func (x *Index) SchemeData(kind Kind) (name string, data []byte, err error) {
	name, b, err := x.scheme(kind)
	if err == nil && b.Size > 0 {
		data, err = x.content(b.Off, b.Size)
	}
	return name, data, err
}

// AppendScheme appends the length and the name of a scheme, which must have at most 255 bytes.
func AppendScheme(dst []byte, name string) []byte {
	return append(append(dst, byte(len(name))), name...)
}

// CheckEnd checks that nothing follows the last block.
func (x *Index) CheckEnd() error {
	n := len(x.blocks)
	if n == 0 {
		return nil
	}
	if end := x.blocks[n-1].Off + x.blocks[n-1].Size; end < x.size {
		return x.fault(end, "%d bytes after the last block", x.size-end)
	}
	return nil
}

// Sum returns the checksum of the bytes of a section.
func Sum(data []byte) uint32 { return uint32(xxhash.Sum64(data)) }

// A Checksum computes the [Sum] of concatenated sections.
type Checksum struct{ digest xxhash.Digest }

// NewChecksum returns the checksum of no sections.
func NewChecksum() *Checksum {
	c := new(Checksum)
	c.digest.Reset()
	return c
}

// Add adds a section: its bitmask byte, and the bytes after it.
func (c *Checksum) Add(bitmask byte, data []byte) {
	_, _ = c.digest.Write([]byte{bitmask}) // cannot fail
	_, _ = c.digest.Write(data)
}

// Value returns the checksum.
func (c *Checksum) Value() uint32 { return uint32(c.digest.Sum64()) }

// Checksum returns the checksum of a section before the index.
func (x *Index) Checksum(section int) (uint32, error) {
	v, err := x.bits(x.byKind[Checksums].Off+int64(section)*SumSize, 0, 8*SumSize)
	return uint32(v), err
}

// AppendChecksum appends the checksum of the next section.
func AppendChecksum(dst []byte, sum uint32) []byte { return binary.BigEndian.AppendUint32(dst, sum) }

const fingerprintSize = 8

// Fingerprint returns the fingerprint of a unit.
func (x *Index) Fingerprint(unit int) (uint64, error) {
	b, err := x.fingerprints()
	if err == nil && unit >= x.units {
		err = x.fault(b.Off, "unit %d of %d", unit, x.units)
	}
	if err != nil {
		return 0, err
	}
	var v [fingerprintSize]byte
	err = x.read(v[:], b.Off+fingerprintSize*int64(unit))
	return binary.BigEndian.Uint64(v[:]), err
}

// CheckFingerprints checks that each unit has a fingerprint, if there are any.
func (x *Index) CheckFingerprints() error {
	if !x.Has(Fingerprints) {
		return nil
	}
	_, err := x.fingerprints()
	return err
}

func (x *Index) fingerprints() (Block, error) {
	_, b, err := x.scheme(Fingerprints)
	if err == nil && b.Size != fingerprintSize*int64(x.units) {
		err = x.fault(b.Off, "%d bytes of fingerprints for %d units", b.Size, x.units)
	}
	return b, err
}

// AppendFingerprint appends the fingerprint of the next unit.
func AppendFingerprint(dst []byte, key uint64) []byte { return binary.BigEndian.AppendUint64(dst, key) }
