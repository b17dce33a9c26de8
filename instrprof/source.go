package instrprof

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/regular"
)

// A source hands out bytes of a file. It is the one place that touches the file or the io.ReaderAt;
// everything above it sees bytes that stay valid as long as someone holds them.
type source struct {
	size   int64
	bytes  []byte      // of OpenBytes: handed out as they are
	at     io.ReaderAt // of Open and NewReader: read into fresh memory
	file   *os.File    // of Open
	closed atomic.Bool
}

// openSource opens a file. It is read, not mapped: a lookup takes three short reads, which cost
// less than a map and its faults, and a file that shrinks gives an error, not a dead process.
func openSource(path string) (*source, error) {
	file, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	return &source{size: info.Size(), at: file, file: file}, nil
}

// inMemory tells whether what view hands out is no copy.
func (s *source) inMemory() bool { return s.at == nil }

// view returns n bytes at off, which lie within the file.
func (s *source) view(off int64, n int) ([]byte, error) {
	if s.ready() == nil && s.inMemory() {
		return s.bytes[off : off+int64(n) : off+int64(n)], nil
	}
	return s.viewIn(nil, off, n)
}

// viewIn is view with a buffer that is used if it is large enough and a copy is needed at all.
func (s *source) viewIn(buf []byte, off int64, n int) ([]byte, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if s.inMemory() {
		return s.bytes[off : off+int64(n) : off+int64(n)], nil
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	got, err := s.at.ReadAt(buf, off)
	if got == n {
		return buf, nil
	}
	switch {
	case errors.Is(err, os.ErrClosed):
		return nil, afdo.ErrClosed
	case err == io.EOF || err == nil:
		err = afdo.ErrChanged
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
	if s.file != nil {
		return s.file.Close()
	}
	return nil
}
