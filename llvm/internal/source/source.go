// Package source reads parts of a file that is in memory, on a disk or behind an io.ReaderAt.
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

// A Source is a file. Bytes that it returns stay valid as long as they are referred to. A nil
// Source counts as closed. All methods may be called concurrently, but for Keep.
type Source struct {
	size   int64
	data   []byte      // of a file in memory
	at     io.ReaderAt // of any other
	file   *os.File    // if at is a file
	info   fs.FileInfo // of file, when it was opened
	own    bool        // Open has opened file
	closed atomic.Bool
}

// Open opens a regular file. It is read, not mapped: a few short reads cost less than a map and its
// faults, and a file that shrinks gives an error.
func Open(path string) (*Source, error) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	return &Source{size: info.Size(), at: file, file: file, info: info, own: true}, nil
}

// OfBytes returns a file in memory. Its bytes are returned without a copy.
func OfBytes(data []byte) *Source { return &Source{data: data, size: int64(len(data))} }

// Of returns a file behind an io.ReaderAt. An *os.File is watched as Open watches its own.
func Of(at io.ReaderAt, size int64) *Source {
	s := &Source{at: at, size: size}
	if file, ok := at.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Size() == size {
			s.file, s.info = file, info
		}
	}
	return s
}

// Size returns how many bytes the file has.
func (s *Source) Size() int64 {
	if s == nil {
		return 0
	}
	return s.size
}

// InMemory reports whether View returns bytes without a copy.
func (s *Source) InMemory() bool { return s.at == nil }

// Keep makes the file one in memory, given all of its bytes.
func (s *Source) Keep(data []byte) { s.data, s.at = data, nil }

// View returns n bytes at off, which lie within the file.
func (s *Source) View(off int64, n int) ([]byte, error) { return s.ViewIn(nil, off, n) }

// ViewIn is View with a buffer that is used if it is large enough and a copy is needed.
func (s *Source) ViewIn(buf []byte, off int64, n int) ([]byte, error) {
	if err := s.Ready(); err != nil {
		return nil, err
	}
	if s.InMemory() {
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

// short is the error of a read that ends before the size of the file.
func (s *Source) short() error {
	if s.file != nil {
		return fault.ErrChanged
	}
	return io.ErrUnexpectedEOF
}

// unchanged returns afdo.ErrChanged if the file is not as it was opened.
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

// Ready returns afdo.ErrClosed for a source that is closed or was never opened.
func (s *Source) Ready() error {
	if s == nil || s.closed.Load() {
		return fault.ErrClosed
	}
	return nil
}

// Close closes the file if Open has opened it. A second Close returns afdo.ErrClosed.
func (s *Source) Close() error {
	if s == nil || s.closed.Swap(true) {
		return fault.ErrClosed
	}
	if s.own {
		return s.file.Close()
	}
	return nil
}
