package symbolize

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
)

// A window is a buffer with the bytes of a section that one goroutine has read last.
type window struct {
	buf  []byte
	off  uint64
	sect *section
	left *atomic.Int64 // budget for the memory of the window, nil for no limit
}

// windowSize is the minimum number of bytes read at a time.
const windowSize = 4 << 10

// peek returns the n bytes of the section at offset off, or fewer at the end of the section. They
// are valid until the next call.
func (w *window) peek(off, n uint64) ([]byte, error) {
	s := w.sect
	if off >= s.size {
		return nil, nil
	}
	n = min(n, s.size-off)
	if s.data != nil {
		return s.data[off : off+n], nil
	}
	if end := w.off + uint64(len(w.buf)); off >= w.off && off+n <= end {
		return w.buf[off-w.off : off-w.off+n], nil
	}
	size := min(max(n, windowSize), s.size-off)
	if uint64(cap(w.buf)) < size {
		if err := spend(w.left, int(size)); err != nil { // before the allocation, which could be the whole section
			return nil, err
		}
		w.buf = make([]byte, size)
	}
	w.buf, w.off = w.buf[:size], off
	if err := s.read(w.buf, off); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	return w.buf[:n], nil
}

// A reading is what one goroutine needs to read sections: a window, which is a buffer, for each
// section.
type reading struct {
	windows map[*section]*window
	root    abbrevTable   // for the root entry of the unit that was read last
	left    *atomic.Int64 // budget of the query, nil for no limit
}

// spend charges n bytes to the budget of the query, for names, address ranges, tables, rows, and
// the windows through which they are read. The limit is needed because a few bytes of a malformed
// file can refer to the same megabytes thousands of times.
func (r *reading) spend(n int) error { return spend(r.left, n) }

// spend subtracts n from a budget, and returns an error if less is left. A nil budget has no limit.
func spend(left *atomic.Int64, n int) error {
	if left != nil && left.Add(-int64(n)) < 0 {
		return fmt.Errorf("symbolize: %w: names, address ranges and tables take far more memory than the size of the file allows", fault.ErrLimit)
	}
	return nil
}

func (r *reading) window(s *section) *window {
	w := r.windows[s]
	if w == nil {
		w = &window{sect: s, left: r.left}
		if r.windows == nil {
			r.windows = make(map[*section]*window)
		}
		r.windows[s] = w
	}
	return w
}

// decode calls f with a cursor at offset off of a section. The number of bytes that f will read is
// not known in advance. If the data in memory ends too early, decode calls f again with more data,
// so f must start anew. f cannot read beyond limit.
func (r *reading) decode(s *section, off, limit uint64, f func(*cursor)) error {
	return r.decodeFrom(firstDecoded, s, off, limit, f)
}

// firstDecoded is the number of bytes that decode passes to its first call of f.
const firstDecoded = 512

// decodeFrom does the same as decode. first is the number of bytes that it passes to the first call
// of f.
func (r *reading) decodeFrom(first uint64, s *section, off, limit uint64, f func(*cursor)) error {
	limit = min(limit, s.size)
	if off > limit {
		return s.faultAt(off, fault.ErrTruncated, "this offset is beyond the end at %d", limit)
	}
	for n := first; ; n *= 8 {
		n = min(n, limit-off)
		data, err := r.window(s).peek(off, n)
		if err != nil {
			return err
		}
		c := newCursor(data, off, s)
		f(c)
		if c.Err == nil || !c.short() || n == limit-off {
			return c.err()
		}
	}
}

// copy returns n bytes at offset off of a section. If the section is in memory, it returns a part
// of it. Otherwise it reads the bytes into buf, if that is large enough, or into new memory.
func (r *reading) copy(s *section, off, n uint64, buf []byte) ([]byte, error) {
	if off > s.size || n > s.size-off {
		return nil, s.faultAt(off, fault.ErrTruncated, "want %d bytes, the section has %d", n, s.size)
	}
	if s.data != nil {
		return s.data[off : off+n : off+n], nil
	}
	if uint64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	return buf[:n], s.read(buf[:n], off)
}

// str returns the string at an offset of a section of strings. The string is valid until the next
// call.
func (r *reading) str(s *section, off uint64) (str []byte, err error) {
	err = r.decode(s, off, s.size, func(c *cursor) { str = c.String("a string") })
	return str, err
}

// isString reports whether want is the string at an offset of a string section.
func (r *reading) isString(s *section, off uint64, want string) (bool, error) {
	data, err := r.window(s).peek(off, uint64(len(want))+1)
	return len(data) == len(want)+1 && string(data[:len(want)]) == want && data[len(want)] == 0, err
}

// contains reports whether text occurs anywhere in a section.
func (r *reading) contains(s *section, text string) (bool, error) {
	const piece = 64 << 10
	for off := uint64(0); off < s.size; off += piece {
		data, err := r.window(s).peek(off, piece+uint64(len(text))-1)
		if err != nil || bytes.Contains(data, []byte(text)) {
			return err == nil, err
		}
	}
	return false, nil
}
