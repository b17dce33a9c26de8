package v4

import (
	"math"
	"sync"
)

// A read through an io.ReaderAt may be a request to a server, which takes as long for some hundred
// kilobytes as for one. So what is likely to be wanted next is read together with what is wanted
// now. Nothing is read ahead of a file that is mapped or in memory.

// How much is read ahead. The section table is a thirtieth of a compact file and a seventeenth of a
// normal one; this project writes the file names and an index at the end.
const (
	headShare    = 16
	minHead      = 4 << 10
	maxHead      = 8 << 20
	tailShare    = 64
	minTail      = 4 << 10
	maxTail      = 128 << 10
	maxUnitBytes = 256 << 10 // of a unit's sections
	infoChunk    = 64 << 10  // of a large unit's samples

	pagesChunk = 16 << 10 // of an index

	maxWindows     = 64
	maxWindowBytes = 16 << 20
)

// window is a part of the file that was read ahead.
type window struct {
	off  int64
	data []byte
}

// windows are the parts of a file that were read ahead last.
type windows struct {
	mu    sync.Mutex
	all   []window // the latest one last
	bytes int      // of all of them
}

// find returns n bytes at off if they have been read ahead, else nil.
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

// add keeps a window, and drops the oldest ones if they have become too many.
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

// remote reports whether it pays to read ahead.
func (s *source) remote() bool { return s.at != nil }

// ahead reads n bytes at off, as far as the file reaches, if it is remote and they have not been
// read ahead. Where that fails, whoever needs the bytes reads them and has the error.
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

// tail is how much of the end of the file is read ahead.
func (s *source) tail() int64 { return min(max(s.size/tailShare, minTail), maxTail, s.size) }

// tailAhead reads the end of the file, where the file names are, or an index.
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

// pagesAhead reads what stands around some bytes of the section that begins at an offset, and more
// of what follows, unless it has them.
func (s *source) pagesAhead(section, off, n int64) {
	if s.remote() && s.windows.find(section+off, n) == nil {
		from := max(off-pagesChunk/4, 0)
		s.ahead(section+from, max(pagesChunk, off+n-from))
	}
}
