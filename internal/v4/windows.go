package v4

import (
	"math"
	"sync"
)

// A read through an io.ReaderAt may be a request to a server, which takes as long for a few hundred
// kilobytes as for one byte. So data that is likely to be needed next is read together with the
// data needed now. Nothing is read ahead from a file that is mapped or in memory.

// Amounts to be read ahead. The section table takes about 1/30 of a compact file and 1/17 of a
// normal one. This project writes the file names and an index at the end.
const (
	headShare    = 16
	minHead      = 4 << 10
	maxHead      = 8 << 20
	tailShare    = 64
	minTail      = 4 << 10
	maxTail      = 128 << 10
	maxUnitBytes = 256 << 10 // maximum size of a unit's sections
	infoChunk    = 64 << 10  // part of a large unit's samples

	pagesChunk = 16 << 10 // part of an index

	maxWindows     = 64
	maxWindowBytes = 16 << 20
)

// window is a part of the file that was read ahead.
type window struct {
	off  int64
	data []byte
}

// windows holds the parts of a file that were read ahead most recently.
type windows struct {
	mu    sync.Mutex
	all   []window // the latest one last
	bytes int      // total size
}

// find returns n bytes at off if they have been read ahead, and otherwise nil.
func (w *windows) find(off, n int64) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.all) - 1; i >= 0; i-- {
		if at := off - w.all[i].off; at >= 0 && n <= int64(len(w.all[i].data))-at {
			return w.all[i].data[at : at+n]
		}
	}
	return nil
}

// add adds a window, and drops the oldest ones if there are too many.
func (w *windows) add(latest window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, latest)
	w.bytes += len(latest.data)
	for len(w.all) > 1 && (len(w.all) > maxWindows || w.bytes > maxWindowBytes) {
		w.bytes -= len(w.all[0].data)
		w.all[0] = window{}
		w.all = w.all[1:]
	}
}

// remote reports whether reading ahead is worthwhile.
func (s *source) remote() bool { return s.at != nil }

// ahead reads n bytes at off, limited to the end of the file, if the file is remote and they have
// not been read ahead. It ignores errors; a caller that needs the bytes reads them again and gets
// the error.
func (s *source) ahead(off, n int64) {
	n = min(n, s.size-off)
	if !s.remote() || n <= 0 || s.closed.Load() || s.windows.find(off, n) != nil {
		return
	}
	if n > math.MaxInt {
		return
	}
	if data, err := s.read(nil, off, int(n)); err == nil {
		s.windows.add(window{off, data})
	}
}

// tail returns the size of the end of the file that is read ahead.
func (s *source) tail() int64 { return min(max(s.size/tailShare, minTail), maxTail, s.size) }

// tailAhead reads the end of the file, which contains the file names or an index.
func (s *source) tailAhead() { s.ahead(s.size-s.tail(), s.tail()) }

// aheadOfOpening reads the end of the file and the section table.
func (s *source) aheadOfOpening() {
	head := min(max(s.size/headShare, minHead), maxHead)
	if head+s.tail() >= s.size {
		s.ahead(0, s.size)
		return
	}
	s.tailAhead()
	s.ahead(0, head)
}

// pagesAhead reads bytes around a range of the section that begins at offset section, unless they
// have been read ahead.
func (s *source) pagesAhead(section, off, n int64) {
	if s.remote() && s.windows.find(section+off, n) == nil {
		from := max(off-pagesChunk/4, 0)
		s.ahead(section+from, max(pagesChunk, off+n-from))
	}
}
