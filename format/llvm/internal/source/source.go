// Package source reads parts of a file in memory, on disk or behind an io.ReaderAt.
package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
)

// A Source is a file of which parts can be read. The bytes that it returns stay valid. A nil Source
// behaves like one that is closed. All methods except Keep may be called concurrently.
type Source struct {
	size   int64
	data   []byte      // contents of a file in memory, from base on
	base   int64       // file offset of data
	at     io.ReaderAt // any other file
	file   *os.File    // at, if it is a file
	info   fs.FileInfo // state of file when it was opened
	own    bool        // file was opened by Open
	closed atomic.Bool
}

// Open opens a regular file. It reads the file instead of mapping it: a few short reads cost less
// than a map with its page faults, and reading a truncated file returns an error.
func Open(path string) (*Source, error) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	return &Source{size: info.Size(), at: file, file: file, info: info, own: true}, nil
}

// OfBytes returns a Source for a file in memory. It returns its bytes without a copy.
func OfBytes(data []byte) *Source { return &Source{data: data, size: int64(len(data))} }

// OfPart returns a Source for the part of a file in memory that begins at file offset base. Only
// that part can be read.
func OfPart(data []byte, base int64) *Source {
	return &Source{data: data, base: base, size: base + int64(len(data))}
}

// Of returns a Source that reads through an io.ReaderAt. If that is an *os.File, the Source notices
// changes of the file, as one from Open does.
func Of(at io.ReaderAt, size int64) *Source {
	s := &Source{at: at, size: size}
	if file, ok := at.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Size() == size {
			s.file, s.info = file, info
		}
	}
	return s
}

// Size returns the size of the file in bytes.
func (s *Source) Size() int64 {
	if s == nil {
		return 0
	}
	return s.size
}

// InMemory reports whether the file is in memory, so that View returns its bytes without a copy.
func (s *Source) InMemory() bool { return s.at == nil }

// Keep makes the Source use data, which must be the contents of the whole file, and no longer read
// the file.
func (s *Source) Keep(data []byte) { s.data, s.at = data, nil }

// View returns n bytes at offset off. They must lie within the file.
func (s *Source) View(off int64, n int) ([]byte, error) { return s.ViewIn(nil, off, n) }

// ViewIn is like View. If it has to copy the bytes, it copies them into buf, provided that buf is
// large enough.
func (s *Source) ViewIn(buf []byte, off int64, n int) ([]byte, error) {
	if err := s.Ready(); err != nil {
		return nil, err
	}
	if s.InMemory() {
		off -= s.base
		return s.data[off : off+int64(n) : off+int64(n)], nil
	}
	buf, err := arriving.ReadAt(s.at, buf, off, n)
	if err == nil {
		err = s.unchanged()
	} else if err == io.ErrUnexpectedEOF {
		err = s.short()
	}
	switch {
	case err == nil:
		return buf, nil
	case s.closed.Load() || errors.Is(err, os.ErrClosed):
		return nil, fault.ErrClosed
	}
	return nil, &fault.ReadError{Offset: off, Size: n, Err: err}
}

// short returns the error for a file that ends before the size that it had when it was opened.
func (s *Source) short() error {
	if s.file != nil {
		return fault.ErrChanged
	}
	return io.ErrUnexpectedEOF
}

// unchanged returns afdo.ErrChanged if the file has changed since it was opened.
func (s *Source) unchanged() error {
	if s.file == nil {
		return nil
	}
	now, err := s.file.Stat()
	if err == nil && (now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime())) {
		return fault.ErrChanged
	}
	return err
}

// Ready returns afdo.ErrClosed if the source is closed or was never opened.
func (s *Source) Ready() error {
	if s == nil || s.closed.Load() {
		return fault.ErrClosed
	}
	return nil
}

// Close closes a file that Open opened. A second Close returns afdo.ErrClosed.
func (s *Source) Close() error {
	if s == nil || s.closed.Swap(true) {
		return fault.ErrClosed
	}
	if s.own {
		return s.file.Close()
	}
	return nil
}
