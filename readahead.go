package afdo

import (
	"slices"
	"sync"
)

// A read through an io.ReaderAt may be a request to a server, which takes as long for some hundred
// kilobytes as for one. So what is likely to be wanted next is read together with what is wanted
// now. Nothing is read ahead of a file that is mapped or in memory.

// How much is read ahead. The section table is a thirtieth of a compact file and a seventeenth of a
// normal one; this project writes the file names and an index at the end.
const (
	headShare = 16
	minHead   = 4 << 10
	maxHead   = 8 << 20
	tailShare = 64
	minTail   = 4 << 10
	maxTail   = 128 << 10
	maxRun    = 256 << 10 // of a unit's sections
	infoChunk = 64 << 10  // of a large unit's samples

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

// distant reports whether it pays to read ahead.
func (s *source) distant() bool { return s.at != nil }

// ahead reads n bytes at off, as far as the file reaches, if it is distant and they have not been
// read ahead. Where that fails, whoever needs the bytes reads them and has the error.
func (s *source) ahead(off, n int64) {
	n = min(n, s.size-off)
	if !s.distant() || n <= 0 || s.closed.Load() || s.windows.find(off, n) != nil {
		return
	}
	data := make([]byte, n)
	if s.read(data, off) == nil {
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
	if s.distant() && s.windows.find(section+off, n) == nil {
		from := max(off-pagesChunk/4, 0)
		s.ahead(section+from, max(pagesChunk, off+n-from))
	}
}

// tableIndexes returns the indexes of the sections that begin the units and of the fixed ones, in
// order.
func (d *directory) tableIndexes(t *sectionTable) []uint32 {
	d.begin.Do(func() {
		for i := range d.entries {
			d.begins = append(d.begins, d.entries[i].Strings, d.entries[i].Symbols)
		}
		for i := range t.fixed {
			d.begins = append(d.begins, uint32(t.fixed[i].index))
		}
		slices.Sort(d.begins)
	})
	return d.begins
}

// run returns the sections of the unit, from the first one to the one before the next unit's, as
// far as the file names section tells; none if that has not been read.
func (u *Unit) run() (from, to int) {
	d, t := u.r.dir.Load(), u.r.table.Load()
	if d == nil || t.sparse != nil {
		return 0, 0
	}
	first, last := min(u.entry.Strings, u.entry.Symbols), max(u.entry.Strings, u.entry.Symbols)
	if uint64(last) >= uint64(t.len()) {
		return 0, 0
	}
	begins := d.tableIndexes(t)
	if i, _ := slices.BinarySearch(begins, last+1); i < len(begins) {
		return int(first), min(int(begins[i]), t.len())
	}
	return int(first), t.len()
}

// ahead reads the unit's sections ahead: all of them if they have no more bytes than most, else the
// names and some of the samples. It does so once: what was read may have been dropped since, but
// has been used.
func (u *Unit) ahead(most int64) {
	e := u.extent()
	if e.size == 0 {
		return
	}
	n := e.size
	if n > most {
		n = min(n, max(maxRun, u.namesExtent().size))
	}
	if before := u.asked.Swap(n); before >= n {
		u.asked.Store(before)
		return
	}
	u.r.src.ahead(e.off, n)
	if p := u.places; p != nil && n == e.size {
		u.vouchNames()
		names := p.NamesSize()
		u.r.vouch(p.first+2, u.r.src.windows.find(e.off+names, e.size-names), p.Infos, len(p.places)-2)
	}
}

// namesAhead reads ahead the string table and the symbol names, if an index tells where they are.
func (u *Unit) namesAhead() {
	if u.places != nil {
		u.r.src.ahead(u.extent().off, u.places.NamesSize())
		u.vouchNames()
	}
}

func (u *Unit) vouchNames() {
	p := u.places
	u.r.vouch(p.first, u.r.src.windows.find(p.places[0].off, p.NamesSize()), p.Names, 2)
}

// extent returns where the unit's sections are if the file is distant, and nothing if that cannot
// be told.
func (u *Unit) extent() extent {
	if !u.r.src.distant() {
		return extent{}
	}
	if p := u.places; p != nil {
		return extent{p.places[0].off, p.Size()}
	}
	from, to := u.run()
	if from == to {
		return extent{}
	}
	t := u.r.table.Load()
	first, last := t.extent(from), t.extent(to-1)
	return extent{first.off, last.off + last.size - first.off}
}

// infoAhead reads ahead what stands around the samples of a function, unless it is the unit's first
// one. The caller holds u.mu.
func (u *Unit) infoAhead(index uint32) {
	if len(u.infos) == 0 { // it may be the only one
		return
	}
	e := u.extent()
	if e.size == 0 || uint64(index) >= uint64(u.r.NumSections()) {
		return
	}
	info, err := u.r.extent(int(index))
	if err != nil || info.off < e.off || info.off+info.size > e.off+e.size {
		return
	}
	from := info.off - (info.off-e.off)%infoChunk
	to := max(min(from+infoChunk, e.off+e.size), info.off+info.size)
	u.r.src.ahead(from, to-from)
}
