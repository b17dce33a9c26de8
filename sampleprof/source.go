package sampleprof

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/regular"
)

// source hands out bytes of the file. It is the one place that touches the
// io.ReaderAt; everything above it sees []byte that stays valid as long as someone holds it.
type source struct {
	size   int64
	bytes  []byte      // of OpenBytes: handed out as they are
	at     io.ReaderAt // of Open and NewReader: read into fresh memory
	closer io.Closer   // of Open
	closed atomic.Bool
}

// view returns n bytes at off, which lie within the file.
func (s *source) view(off int64, n int) ([]byte, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if s.bytes != nil {
		return s.bytes[off : off+int64(n) : off+int64(n)], nil
	}
	p := make([]byte, n)
	m, err := s.at.ReadAt(p, off)
	if m == n && (err == nil || err == io.EOF) {
		return p, nil
	}
	switch {
	case s.closed.Load():
		return nil, afdo.ErrClosed
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return nil, &afdo.ReadError{Offset: off, Size: n, Err: err}
}

// ready returns [afdo.ErrClosed] for a source that is closed or was never opened.
func (s *source) ready() error {
	if s == nil || s.closed.Load() {
		return afdo.ErrClosed
	}
	return nil
}

// length returns how many bytes the file has.
func (s *source) length() int64 {
	if s == nil {
		return 0
	}
	return s.size
}

func (s *source) close() error {
	if s == nil || s.closed.Swap(true) {
		return afdo.ErrClosed
	}
	if s.closer != nil {
		return s.closer.Close()
	}
	return nil
}

// A file is read, not mapped: all that is read of it is copied anyway, once, and what is truncated
// meanwhile gives an error without further ado.
type file struct {
	*os.File
	info fs.FileInfo // as opened
}

func openFile(path string) (*file, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	return &file{File: f, info: info}, nil
}

// ReadAt reads, and notices if the file is not what was opened any more.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return n, err
	}
	now, statErr := f.Stat()
	if statErr != nil {
		return 0, statErr
	}
	if now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()) {
		return 0, afdo.ErrChanged
	}
	return n, err
}
