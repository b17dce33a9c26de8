package v4

import (
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Options holds the options of the same names in package afdo.
type Options struct {
	TrustIndex, SkipChecksums, RequireChecksums bool
}

// A File finds the sections and units of a file. All methods may be called concurrently. A nil File
// behaves like a closed one.
type File struct {
	src  *source
	opts Options

	table      atomic.Pointer[sectionTable]
	tableMu    sync.Mutex // guards the scan of table
	tableFault error      // result of the scan

	dirMu sync.Mutex // guards the decoding of dir
	dir   atomic.Pointer[Directory]

	idxMu sync.Mutex // guards the opening of idx
	idx   atomic.Pointer[Index]
}

// Open opens and maps a file.
func Open(path string, o Options) (*File, error) {
	m, err := openMapping(path)
	if err != nil {
		return nil, err
	}
	v, err := newFile(&source{mapped: m, size: m.state.size}, o)
	if err != nil {
		_ = m.close()
		return nil, err
	}
	return v, nil
}

// OpenBytes opens a file in memory, without copying it.
func OpenBytes(data []byte, o Options) (*File, error) {
	if data == nil {
		data = []byte{}
	}
	return newFile(&source{bytes: data, size: int64(len(data))}, o)
}

// OpenAt opens a file of size bytes behind an io.ReaderAt, which must allow concurrent reads.
func OpenAt(at io.ReaderAt, size int64, o Options) (*File, error) {
	return newFile(&source{at: at, size: size}, o)
}

func newFile(src *source, o Options) (*File, error) {
	v := &File{src: src, opts: o}
	src.opening = true
	err := v.readHeader()
	if changed := src.opened(); changed != nil {
		err = changed
	}
	if err == nil && o.RequireChecksums {
		err = v.requireChecksums()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// readHeader reads the header and the section table. Support for another dialect of version 4 would
// start here.
func (v *File) readHeader() error {
	if v.openByEnd() {
		return nil
	}
	v.src.aheadOfOpening()
	prefix, err := v.src.view(0, int(min(v.src.size, wire.HeaderPrefix)))
	if err != nil {
		return err
	}
	t := new(sectionTable)
	if err := t.readHeader(prefix, v.src.size); err != nil {
		return err
	}
	return headerClass(v.readTable(t))
}

// Close releases the file without waiting for other calls. A second Close returns
// [fault.ErrClosed].
func (v *File) Close() error {
	if v.Closed() {
		return fault.ErrClosed
	}
	return v.src.close()
}

// Closed reports whether the file has been closed.
func (v *File) Closed() bool { return v == nil || v.src.closed.Load() }

// Size returns the size of the file in bytes.
func (v *File) Size() int64 {
	if v == nil {
		return 0
	}
	return v.src.size
}

// InMemory reports whether the file is in memory, so that reads are free.
func (v *File) InMemory() bool { return v.src.bytes != nil }

// Compact reports whether the header and the section table are in compact mode.
func (v *File) Compact() bool { return v.table.Load().Section.Compact }

// A Handle is embedded in the Reader of package afdo. It gives other packages of this module access
// to the Reader's [File] without exporting anything to importers, who cannot name this package.
type Handle struct{ file *File }

// NewHandle returns the handle of a file.
func NewHandle(v *File) Handle { return Handle{v} }

func (h *Handle) held() *Handle { return h }

// A Holder is a type that embeds a [Handle].
type Holder interface{ held() *Handle }

// FileOf returns the file of a Reader, nil for the zero Reader.
func FileOf(r Holder) *File { return r.held().file }

// MaxSpelled returns the limit on the total length of the expanded names in a file of the given
// size: 64 times the size plus 16 MiB. Names of real files take a few times the file size.
// Package budget and the command return afdo.ErrLimit above it.
func MaxSpelled(size int64) int64 {
	const (
		perByte = 64
		free    = 16 << 20
	)
	return free + perByte*min(size, math.MaxInt64/(2*perByte))
}

// MaxNameBytes returns the limit on the names of one unit: the option afdo.MaxNameBytes, but at
// most [MaxSpelled].
func MaxNameBytes(option int, size int64) int { return int(min(int64(option), MaxSpelled(size))) }

// MaxUnitNames returns a limit on the names of one unit for the option afdo.MaxNameBytes: four
// times the file size plus 4 MiB, but at most the option's default. In the file, names share
// prefixes. The names of real units stay far below this limit.
func MaxUnitNames(size int64, byDefault int) int {
	const (
		perByte = 4
		free    = 4 << 20
	)
	return int(min(int64(byDefault), free+perByte*min(size, int64(byDefault))))
}

// MaxTableBytes returns the limit on the symbol tables of all units in a Reader: four times the
// limit of one unit plus eight times the file size, but at most [MaxSpelled].
func MaxTableBytes(maxNameBytes int, size int64) int64 {
	const perByte = 8
	return min(4*int64(maxNameBytes)+perByte*min(size, math.MaxInt64/(2*perByte)), MaxSpelled(size))
}
