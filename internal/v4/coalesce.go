package v4

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// What is wanted of many units is read together: the places are looked up first, and then parts
// that are near each other are joined to runs, which are read at the same time.

const (
	// What stands between two parts is read, too, if that takes no longer than another request.
	maxGap = 256 << 10

	// It is, too, if there would be more runs than so many, and than one for so many bytes of the
	// file. With opening it, looking at how it begins, the unit itself, the index and the
	// summary, the names of all that a unit calls take 12 requests then. In a larger file, some
	// more requests spare many megabytes.
	minRuns  = 6
	runShare = 6 << 20

	maxJoined = 32 << 20 // of a run of several parts
	maxAtOnce = 8        // runs that are read at the same time
)

// coalesce joins parts of the file to runs, by offset. There are no more than most, unless these
// would be too large.
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

// gapLimit returns how large the gap between two parts may be, which stand in order, for them to be
// joined: as large as it takes for no more than so many runs to be left.
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

// maxRuns is to how many runs parts are joined at most.
func (s *source) maxRuns() int { return max(minRuns, int(s.size/runShare)) }

// aheadAll reads runs ahead, several at the same time.
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

// A batch is units whose names are in runs that are kept in memory at the same time.
type batch struct {
	runs  []extent
	units []int // their places among all
}

// InBatches iterates over the indexes of units. Before it yields one it has read ahead the names of
// the unit and of those that are near it, if the file is remote, but for the units of which nothing
// has to be read.
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

// batches orders units by where their names are, if the file is remote, and divides them. Those of
// which that is not known, or which need not be read, come first.
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

// UnitsAhead reads what the index has of units ahead, if that takes no longer than a request for
// each symbol that is wanted, and the checksum of the summary, which stands near it: who wants
// names often wants that, too.
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
	summary := t.fixedSection(wire.SummaryInfo).index
	v.src.aheadAll(coalesce([]extent{units, runs, part(x.ChecksumPlace(summary))}, v.src.maxRuns()))
	_, _ = x.Checksum(summary) // and keep the page
}

// recordsAhead reads what the index has of several units ahead, if the file is remote.
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

// checksumsAhead reads all checksums, once, if the file is remote and all of its section table has
// been read, too, which has more bytes.
func (v *File) checksumsAhead(x *Index) {
	if v.src.remote() && v.table.Load().sparse == nil {
		x.sums.Do(func() { _, _ = x.All(indexfmt.Checksums) }) // whoever needs one has the error
	}
}
