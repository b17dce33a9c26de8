package perfdata

import (
	"io"
)

// What a stream reads at once: no less than a record, which has 64 KiB at most.
const (
	bufferSize = 256 << 10
	partBuffer = 64 << 10 // of a folder's files, of which there is one for each processor
)

// A stream reads front to back and hands out what comes next in place.
type stream struct {
	r          io.Reader
	buf        []byte
	start, end int   // of what buf holds and is not consumed
	offset     int64 // of start, from the beginning of the recording
	err        error // of r; io.EOF at the end
}

func newStream(r io.Reader, offset int64, size int) *stream {
	return &stream{r: r, buf: make([]byte, size), offset: offset}
}

// peek returns the next n bytes, or fewer if there are no more. They are valid until the next call.
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

// consume goes on by n bytes that peek has returned.
func (s *stream) consume(n int) {
	s.start += n
	s.offset += int64(n)
}

// skip goes on by n bytes, and reports how many there were.
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

// failure returns the error of the input, nil if it has merely ended.
func (s *stream) failure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
