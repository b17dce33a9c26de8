package v4

import (
	"io"
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
	v, err := newFile(&source{mapped: m, size: m.info.Size()}, o)
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
