package afdo

import (
	"math"
	"sort"
)

// A large section table of a mapped file is checked through a window, and what is needed of it is read again. To
// copy all of it to memory that nothing has touched yet would take longer than the check.

const (
	windowSize = 64 << 10 // of the window; smaller tables are copied

	maxGroupBytes = 2 * maxVarintLen * checkpointEvery // of a group of entries
)

// windowScan checks a section table through a window.
type windowScan struct {
	orderScan
	t         *sectionTable
	src       *source
	base      int64    // where data begins in the file
	positions []uint32 // of the groups and of the table's end, from the first entry on; compact tables only
	reached   [2]int   // the last group before which no section ends behind the one that is fixed
}

// scanWindow checks a table in order through a window. Where the table is not one, or has a fault, it leaves it as it was. The
// error is that of a read.
func (r *Reader) scanWindow(t *sectionTable) error {
	end := t.likelyEnd()
	if r.src.mapped == nil || t.onFault != nil || end-uint64(t.entries) <= windowSize || end > math.MaxUint32 {
		return nil
	}
	found := *t
	found.sortFixed()
	s := &windowScan{orderScan: t.orderScan(), t: &found, src: r.src, base: int64(t.entries)}
	if ok, err := s.run(int64(end)); !ok {
		return err
	}
	found.end = s.base + int64(s.pos)
	positions := s.positions
	found.sparse = &entryGroups{src: r.src, position: func(group int) (int64, error) { return int64(positions[group]), nil }}
	ok, err := s.place()
	if ok {
		*t = found
	}
	if err == errAstray { // not as it was a moment ago: the whole table tells why
		return nil
	}
	return err
}

// run checks all entries. The table does not reach beyond end.
func (s *windowScan) run(end int64) (ok bool, err error) {
	window := make([]byte, windowSize)
	if s.compact {
		s.positions = make([]uint32, 0, s.t.groups()+1)
	}
	for i := range s.t.groups() {
		if at := s.base + int64(s.pos); len(s.data)-s.pos < maxGroupBytes && s.base+int64(len(s.data)) < end {
			s.data, s.base, s.pos = window[:min(windowSize, end-at)], at, 0
			if err := s.src.read(s.data, at); err != nil {
				return false, err
			}
		}
		s.note(i)
		if !s.entries(min(checkpointEvery, s.t.count-i*checkpointEvery)) {
			return false, nil
		}
	}
	s.note(s.t.groups())
	return true, nil
}

// note notes where a group begins.
func (s *windowScan) note(group int) {
	if s.compact {
		s.positions = append(s.positions, uint32(s.base+int64(s.pos)-int64(s.t.entries)))
	}
	for i, f := range s.t.fixed {
		if s.end <= uint64(f.off) {
			s.reached[i] = group
		}
	}
}

// place ranks the fixed sections among the entries. It reports whether nothing overlaps, the header included.
func (s *windowScan) place() (ok bool, err error) {
	t := s.t
	if t.firstOffset() < t.end || t.fixed[0].off+t.fixed[0].size > t.fixed[1].off {
		return false, nil
	}
	for i := range t.fixed {
		f := &t.fixed[i]
		above := min(s.reached[i]*checkpointEvery, t.count)
		if above < t.count {
			entries, err := t.sparse.group(t, s.reached[i])
			if err != nil {
				return false, err
			}
			n := sort.Search(len(entries), func(e int) bool { return entries[e].off >= f.off })
			if n > 0 && entries[n-1].off+entries[n-1].size > f.off || n < len(entries) && entries[n].off < f.off+f.size {
				return false, nil
			}
			above += n
		}
		f.index = above + i
	}
	return true, nil
}
