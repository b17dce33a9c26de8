package v4

import (
	"cmp"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
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
	opening bool        // the file is being opened
	closed  atomic.Bool
}

// view returns n bytes of the file from the offset off on. They must lie within the file.
func (s *source) view(off int64, n int) ([]byte, error) { return s.viewBy(byState, nil, off, n) }

// viewBy is like view, with a choice of how a change of a mapped file is noticed. If buf is not
// nil, viewBy may use and replace the memory of *buf.
func (s *source) viewBy(v verification, buf *[]byte, off int64, n int) ([]byte, error) {
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
	return s.read(v, buf, off, n)
}

// read returns a copy of n bytes at off. For a remote file, n may depend on a size that only the
// server claims.
func (s *source) read(v verification, buf *[]byte, off int64, n int) (p []byte, err error) {
	if buf != nil {
		p = *buf
	}
	if s.mapped == nil {
		p, err = arriving.ReadAt(s.at, p, off, n)
		err = readError(off, n, err)
	} else {
		p = slices.Grow(p[:0], n)[:n]
		err = s.readInto(v, p, off)
	}
	if buf != nil {
		*buf = p
	}
	return p, err
}

// readInto copies bytes at off from a mapped file.
func (s *source) readInto(v verification, p []byte, off int64) error {
	if s.opening {
		v = atOpened
	}
	return readError(off, len(p), s.mapped.read(p, off, v))
}

// opened is called when a file has been opened. It returns an error if the file has changed since
// the opening began.
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

// A window is a range of a remote file that was read ahead and is kept in memory.
type window struct {
	off  int64
	data []byte
}

// A windows holds the ranges of a remote file that were read ahead most recently.
type windows struct {
	mu    sync.Mutex
	all   []window // the latest one last
	bytes int      // total size
}

// find returns n bytes of the file from the offset off on, if a window has all of them, and
// otherwise nil.
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

// remote reports whether each read may be a request to a server, so that it is worthwhile to read
// ahead.
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
	if data, err := s.read(byState, nil, off, int(n)); err == nil {
		s.windows.add(window{off, data})
	}
}

// tail returns how many bytes at the end of the file are read ahead when a remote file is opened.
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

// pagesAhead reads n bytes of a section ahead, and some bytes around them, unless they have been
// read ahead. section is the offset of the section in the file, and off that of the bytes in the
// section.
func (s *source) pagesAhead(section, off, n int64) {
	if s.remote() && s.windows.find(section+off, n) == nil {
		from := max(off-pagesChunk/4, 0)
		s.ahead(section+from, max(pagesChunk, off+n-from))
	}
}

// partsAhead reads ranges of the section that begins at offset section, several concurrently,
// unless they have been read ahead.
func (s *source) partsAhead(section int64, parts []indexfmt.Range) {
	if !s.remote() {
		return
	}
	var missing []extent
	for _, p := range parts {
		if s.windows.find(section+p.Off, p.Size) == nil {
			missing = append(missing, extent{section + p.Off, p.Size})
		}
	}
	s.aheadAll(coalesce(missing, s.maxRuns()))
}

// Data of many units is fetched together. The positions are looked up first. Then ranges that are
// close to each other are joined to runs, which are read concurrently.

const (
	// Two ranges are read in one request if the gap between them is at most maxGap, because reading
	// the gap takes no longer than another request.
	maxGap = 256 << 10

	// Ranges are also joined while there are more than max(minRuns, fileSize/runShare) runs. With
	// these values, fetching the names of all callees of a unit takes 12 requests, including those
	// for opening the file, detecting its format, the unit itself, the index and the summary. In a
	// larger file, a few more requests save many megabytes.
	minRuns  = 6
	runShare = 6 << 20

	maxJoined = 32 << 20 // maximum size of a run of several ranges
	maxAtOnce = 8        // maximum number of concurrent reads
)

// coalesce joins ranges of the file that are close to each other into runs, so that fewer requests
// are needed. It returns the runs ordered by offset. There are at most most runs, or more if runs
// would be longer than maxJoined.
func coalesce(parts []extent, most int) (runs []extent) {
	slices.SortFunc(parts, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	limit := gapLimit(parts, most)
	for _, p := range parts {
		if n := len(runs); n > 0 {
			last := &runs[n-1]
			size := max(last.size, p.off+p.size-last.off)
			if p.off-last.off-last.size <= limit && size <= maxJoined {
				last.size = size
				continue
			}
		}
		runs = append(runs, p)
	}
	return runs
}

// gapLimit returns the maximum gap over which ranges must be joined so that at most most runs
// remain. parts must be sorted.
func gapLimit(parts []extent, most int) int64 {
	var gaps []int64
	end := int64(0)
	for i, p := range parts {
		if gap := p.off - end; i > 0 && gap > maxGap {
			gaps = append(gaps, gap)
		}
		end = max(end, p.off+p.size)
	}
	if len(gaps) < most {
		return maxGap
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-most]
}

// maxRuns returns the maximum number of requests for data of many units, see minRuns.
func (s *source) maxRuns() int { return max(minRuns, int(s.size/runShare)) }

// aheadAll reads ranges of the file ahead, several concurrently.
func (s *source) aheadAll(runs []extent) {
	var all sync.WaitGroup
	busy := make(chan struct{}, maxAtOnce)
	for _, run := range runs {
		busy <- struct{}{}
		all.Go(func() {
			s.ahead(run.off, run.size)
			<-busy
		})
	}
	all.Wait()
}

// A batch is a group of units whose names are read ahead together. runs are the ranges of the file
// that contain them.
type batch struct {
	runs  []extent
	units []int // indexes among all units
}

// InBatches iterates over the indexes of units. If the file is remote, it reads ahead the names of
// each unit and of nearby units before it yields the unit. It does not read units for which known
// returns true.
func (v *File) InBatches(units []Unit, known func(*Unit) bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, b := range v.batches(units, known) {
			v.src.aheadAll(b.runs)
			for _, i := range b.units {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// batches divides units into groups whose names are read ahead together. For a remote file it
// orders the units by the position of their names. Units whose names need not be read, or are at an
// unknown position, come first. known reports whether the names of a unit are known.
func (v *File) batches(units []Unit, known func(*Unit) bool) []batch {
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	if !v.src.remote() {
		return []batch{{units: order}}
	}
	places := make([]extent, len(units))
	var parts []extent
	for i := range units {
		u := &units[i]
		e := u.namesExtent()
		if e.size > 0 && !known(u) && v.src.windows.find(e.off, e.size) == nil {
			places[i] = e
			parts = append(parts, e)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a].off, places[b].off) })
	n := len(order) - len(parts)
	all := []batch{{units: order[:n]}}
	order = order[n:]
	bytes := int64(maxWindowBytes)
	for _, run := range coalesce(parts, v.src.maxRuns()) {
		if bytes += run.size; bytes > maxWindowBytes || len(all[len(all)-1].runs) == maxWindows/2 {
			all = append(all, batch{})
			bytes = run.size
		}
		n := 0
		for n < len(order) && places[order[n]].off < run.off+run.size {
			n++
		}
		last := &all[len(all)-1]
		last.runs = append(last.runs, run)
		last.units = append(last.units, order[:n]...)
		order = order[n:]
	}
	return all
}

// UnitsAhead reads ahead the index's data about units, if that takes no longer than a request for
// each wanted symbol. It also reads the checksum of the summary, which is close to it, because
// callers that look up names often need the summary, too.
func (v *File) UnitsAhead(wanted int) {
	x, t := v.idx.Load(), v.table.Load()
	if wanted < 2 || v.dir.Load() != nil || t.sparse == nil || !v.src.remote() || !x.Has(indexfmt.Runs) {
		return
	}
	part := func(off, size int64) extent { return extent{x.Section.Offset + off, size} }
	units, runs := part(x.Place(indexfmt.Units)), part(x.Place(indexfmt.Runs))
	if (units.size+runs.size)/maxGap >= int64(wanted) {
		return
	}
	if _, _, ok := x.FixedChecksums(); ok {
		v.src.aheadAll(coalesce([]extent{units, runs}, v.src.maxRuns()))
		return
	}
	summary := t.fixedSection(wire.SummaryInfo).index
	v.src.aheadAll(coalesce([]extent{units, runs, part(x.ChecksumPlace(summary))}, v.src.maxRuns()))
	_, _ = x.Checksum(summary) // and keep the page in memory
}

// recordsAhead reads ahead what the index has about several units, if the file is remote. ranks are
// the positions of the units in the file names section.
func (v *File) recordsAhead(x *Index, ranks []uint32) {
	if !v.src.remote() || len(ranks) < 2 || !x.Has(indexfmt.Runs) {
		return
	}
	var parts []extent
	for _, rank := range ranks[:min(len(ranks), MaxFalse)] {
		if off, size, err := x.RunPlace(int(rank)); err == nil {
			parts = append(parts, extent{x.Section.Offset + off, size})
		}
	}
	v.src.aheadAll(coalesce(parts, v.src.maxRuns()))
}

// fixedAhead reads ahead the file names together with the summary, if the file is remote, its index
// is trusted, and they are close to each other. Callers that want all units often want the summary,
// too, which is small.
func (v *File) fixedAhead() {
	t := v.table.Load()
	if !v.src.remote() || !t.vouched() {
		return
	}
	names, summary := t.fixedSection(wire.FileNames), t.fixedSection(wire.SummaryInfo)
	runs := coalesce([]extent{names.extent, summary.extent}, 2)
	if len(runs) == 1 && runs[0].size <= names.size+infoChunk {
		v.src.ahead(runs[0].off, runs[0].size)
	}
}

// checksumsAhead reads all checksums once, if the file is remote and its whole section table, which
// is larger, has been read.
func (v *File) checksumsAhead(x *Index) {
	if v.src.remote() && v.table.Load().sparse == nil {
		x.sums.Do(func() { _, _ = x.All(indexfmt.Checksums) }) // the caller that needs a checksum gets the error
	}
}
