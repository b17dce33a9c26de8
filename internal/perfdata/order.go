package perfdata

import (
	"cmp"
	"io"
	"iter"
	"math"
	"slices"
)

// perf reads the buffers of all processors in turn, and writes a mark after each round. A record
// may be older than records of the previous round, but not older than records of the round before
// that. So each record waits for two marks. If marks are rare or missing, the older half of the
// waiting records is released when they exceed maxWaiting, as in perf's own ordered events.

// maxWaiting is the maximum size of the waiting records, in bytes.
const maxWaiting = 16 << 20

// Ordered iterates over the records in the order of their times. Records without a time keep their
// position in the file. Ordered can be used once, and not together with [Reader.Records]. It takes
// at most 32 MB of memory plus 64 kB per file of a folder, and more for compressed records. Once
// its buffers have grown, it allocates nothing per sample.
func (r *Reader) Ordered() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer r.stop()
		q := queue{r: r, yield: yield}
		for !q.stopped {
			raw, err := r.next()
			switch {
			case err == io.EOF:
				q.flush(math.MaxUint64)
				q.end(nil)
			case err != nil:
				q.end(err)
			case raw.kind == typeFinishedRound:
				q.finishRound()
			default:
				q.take(raw)
			}
		}
	}
}

// A queue brings records into the order of their times. It stores each record until it is certain
// that all older records have been read, and then yields it.
type queue struct {
	r       *Reader
	yield   func(Record, error) bool
	stopped bool

	waiting []waiting
	sorted  bool
	bytes   []byte // contents of the waiting records
	spare   []byte // buffer for bytes after the next flush
	newest  uint64 // latest time so far
	before  uint64 // value of newest at the end of the last round
}

// A waiting is a record in a [queue], which is yielded when all older records have been read.
type waiting struct {
	time       uint64
	offset     int64
	start, end int // range in bytes
	kind       uint32
	misc       uint16
	feed       uint16
}

// take adds a record to the queue. If the record has no time, take decodes and yields it at once.
// If the stored records take too much memory, take yields the older half of them.
func (q *queue) take(raw rawRecord) {
	time := q.r.timeOf(raw)
	if time == 0 || time == math.MaxUint64 {
		q.hand(raw)
		return
	}
	start := len(q.bytes)
	q.bytes = append(q.bytes, raw.data...)
	q.sorted = (q.sorted || len(q.waiting) == 0) && time >= q.newest
	q.newest = max(q.newest, time)
	q.waiting = append(q.waiting, waiting{time, raw.offset, start, len(q.bytes), raw.kind, raw.misc, raw.feed})
	if len(q.bytes) > maxWaiting {
		q.sort()
		q.flush(q.waiting[len(q.waiting)/2].time)
	}
}

func (q *queue) finishRound() {
	q.flush(q.before)
	q.before = q.newest
}

func (q *queue) sort() {
	if !q.sorted {
		slices.SortStableFunc(q.waiting, func(a, b waiting) int { return cmp.Compare(a.time, b.time) })
		q.sorted = true
	}
}

// flush decodes and yields the stored records that are not newer than the given time, in the order
// of their times.
func (q *queue) flush(until uint64) {
	q.sort()
	n := 0
	for ; n < len(q.waiting) && q.waiting[n].time <= until && !q.stopped; n++ {
		w := q.waiting[n]
		q.hand(rawRecord{w.kind, w.misc, w.feed, q.bytes[w.start:w.end], w.offset})
	}
	kept := q.spare[:0]
	rest := q.waiting[:0]
	for _, w := range q.waiting[n:] {
		start := len(kept)
		kept = append(kept, q.bytes[w.start:w.end]...)
		w.start, w.end = start, len(kept)
		rest = append(rest, w)
	}
	q.waiting, q.bytes, q.spare = rest, kept, q.bytes
}

// hand decodes a record and yields it to the loop over the records. It does nothing if the loop has
// ended.
func (q *queue) hand(raw rawRecord) {
	if q.stopped {
		return
	}
	record, err := q.r.decode(raw)
	if err != nil {
		q.end(err)
	} else if record != nil {
		q.stopped = !q.yield(record, nil)
	}
}

// end ends the iteration over the records. It yields err as the last element, unless that is nil.
// If a file of the recording was modified meanwhile, it yields an error about that instead.
func (q *queue) end(err error) {
	if err = q.r.unlessChanged(err); err != nil && !q.stopped {
		q.yield(nil, err)
	}
	q.stopped = true
}

// timeOf returns the time that a record contains, or 0 if it contains none.
func (r *Reader) timeOf(raw rawRecord) uint64 {
	if raw.kind != typeSample {
		if raw.kind >= typeHeaderAttr {
			return 0
		}
		return r.otherTime(raw.data)
	}
	index := r.table.ofSample(raw.data, r.big)
	if index < 0 {
		return 0
	}
	at, ok := r.table.events[index].offset(sampleTime)
	if !ok || at+8 > len(raw.data) {
		return 0
	}
	c := newCursor(raw.data[at:], r.big)
	return c.Uint64(field)
}
