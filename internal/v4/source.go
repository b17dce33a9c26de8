package v4

import (
	"io"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// source hands out bytes of the file. It is the one place that touches the map or the io.ReaderAt;
// everything above it sees []byte that stays valid as long as someone holds it.
type source struct {
	size    int64
	bytes   []byte      // of OpenBytes: handed out as they are
	at      io.ReaderAt // of NewReader: read into fresh memory
	windows windows     // and ahead of what is asked for
	mapped  *mapping    // of Open: copied out under a guard
	opening bool        // no caller has the File yet: whether the file changes is found out at the end
	closed  atomic.Bool
}

// view returns n bytes at off, which lie within the file.
func (s *source) view(off int64, n int) ([]byte, error) { return s.viewIn(nil, off, n) }

// viewIn is view for a caller who has memory that it may use, and make larger, or nil.
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

// read returns a copy of n bytes at off. That there are so many may be a server's word only.
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

// readInto copies what a mapped file has at off.
func (s *source) readInto(p []byte, off int64) error {
	return readError(off, len(p), s.mapped.read(p, off, !s.opening))
}

// opened ends the opening of a file, and finds out whether the file has changed meanwhile.
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
