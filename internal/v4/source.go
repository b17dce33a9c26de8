package v4

import (
	"io"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// source provides the bytes of the file. Only this type accesses the map or the io.ReaderAt. The
// []byte values that it returns stay valid.
type source struct {
	size    int64
	bytes   []byte      // for OpenBytes; returned without a copy
	at      io.ReaderAt // for OpenAt; read into new memory
	windows windows     // data that was read ahead from at
	mapped  *mapping    // for Open; copied under a guard
	opening bool        // the file is being opened; changes of the file are checked at the end
	closed  atomic.Bool
}

// view returns n bytes at off, which must lie within the file.
func (s *source) view(off int64, n int) ([]byte, error) { return s.viewIn(nil, off, n) }

// viewIn is like view. If buf is not nil, it may use and replace the memory of *buf.
func (s *source) viewIn(buf *[]byte, off int64, n int) ([]byte, error) {
	if s.closed.Load() {
		return nil, fault.ErrClosed
	}
	if s.bytes != nil {
		return s.bytes[off : off+int64(n)], nil
	}
	if s.remote() {
		if p := s.windows.find(off, int64(n)); p != nil {
			return p, nil
		}
	}
	return s.read(buf, off, n)
}

// read returns a copy of n bytes at off. For a remote file, n may depend on a size that only the
// server claims.
func (s *source) read(buf *[]byte, off int64, n int) (p []byte, err error) {
	if buf != nil {
		p = *buf
	}
	if s.mapped == nil {
		p, err = arriving.ReadAt(s.at, p, off, n)
		err = readError(off, n, err)
	} else {
		if n > cap(p) {
			p = make([]byte, n)
		}
		p = p[:n]
		err = s.readInto(p, off)
	}
	if buf != nil {
		*buf = p
	}
	return p, err
}

// readInto copies bytes at off from a mapped file.
func (s *source) readInto(p []byte, off int64) error {
	return readError(off, len(p), s.mapped.read(p, off, !s.opening))
}

// opened ends the opening of a file. It returns an error if the file changed in the meantime.
func (s *source) opened() error {
	s.opening = false
	if s.mapped == nil {
		return nil
	}
	return readError(0, wire.HeaderPrefix, s.mapped.unchanged())
}

func readError(off int64, n int, err error) error {
	if err != nil && err != fault.ErrClosed {
		return &fault.ReadError{Offset: off, Size: n, Err: err}
	}
	return err
}

func (s *source) close() error {
	if s.closed.Swap(true) {
		return fault.ErrClosed
	}
	if s.mapped != nil {
		return s.mapped.close()
	}
	return nil
}
