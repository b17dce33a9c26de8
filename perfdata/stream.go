package perfdata

import (
	"io"
)

// Sizes of read buffers. They must be at least the maximum size of a record, 64 KiB.
const (
	bufferSize = 256 << 10
	partBuffer = 64 << 10 // for each file of a folder, of which there is one per processor
)

// A stream reads sequentially and returns data without copying it.
type stream struct {
	r          io.Reader
	buf        []byte
	start, end int   // range in buf of the bytes that have not been consumed
	offset     int64 // offset of start in the recording
	err        error // error of r; io.EOF at the end
}

func newStream(r io.Reader, offset int64, size int) *stream {
	return &stream{r: r, buf: make([]byte, size), offset: offset}
}

// peek returns the next n bytes, or fewer at the end. They are valid until the next call.
func (s *stream) peek(n int) []byte {
	for s.end-s.start < n && s.err == nil {
		if s.start > 0 {
			s.end = copy(s.buf, s.buf[s.start:s.end])
			s.start = 0
		}
		var got int
		got, s.err = io.ReadAtLeast(s.r, s.buf[s.end:], n-s.end)
		if s.err == io.ErrUnexpectedEOF {
			s.err = io.EOF
		}
		s.end += got
	}
	return s.buf[s.start:min(s.start+n, s.end)]
}

// consume skips n bytes that peek has returned.
func (s *stream) consume(n int) {
	s.start += n
	s.offset += int64(n)
}

// skip skips n bytes. It returns the number of bytes actually skipped.
func (s *stream) skip(n uint64) uint64 {
	left := n
	for left > 0 {
		got := len(s.peek(int(min(left, uint64(len(s.buf))))))
		if got == 0 {
			break
		}
		s.consume(got)
		left -= uint64(got)
	}
	return n - left
}

// failure returns the error of the input, or nil at the end of the input.
func (s *stream) failure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
