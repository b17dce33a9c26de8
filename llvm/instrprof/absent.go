package instrprof

import (
	"sync"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/llvm/internal/source"
)

// A damaged bucket must not make a function seem absent. Chains stand one behind the other in the
// order of their buckets, as LLVM writes them. So a lookup that finds nothing looks whether the
// chain of its bucket, or of the one before that has a chain, ends where the next one begins. If
// not, or if the number of buckets is not LLVM's, the file is damaged or from another writer, and
// the whole table is checked, once.

// A soundness is what a check of the whole table came to.
type soundness struct {
	mu      sync.Mutex
	checked bool
	fault   error
}

// absent returns an error if the table may hold what a lookup of a hash has not found.
func (r *Reader) absent(hash uint64) error {
	if r.closed(r.table.Bucket(hash)) {
		return nil
	}
	s := &r.sound
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.checked {
		s.fault = r.table.check(r.src)
		s.checked = true
	}
	return s.fault
}

// closed tells whether there is no gap between the chains around a bucket.
func (r *Reader) closed(bucket uint64) bool {
	t := &r.table
	if !t.Usual() {
		return false
	}
	end, ok := t.payload, true
	if start := t.neighbour(r.src, bucket, false); start != 0 {
		end, ok = t.chainEnd(r.src, start)
	}
	next := t.neighbour(r.src, bucket+1, true)
	if next == 0 {
		return ok && end <= t.at && t.at-end <= maxTablePad
	}
	return ok && end == next
}

// How many buckets are read at once to find the next that has a chain, and how often. Of LLVM's
// tables more than a third of the buckets have one.
const (
	neighbourWords = 32
	neighbourReads = 8
)

// farAway is what neighbour returns if it has not looked at all buckets.
const farAway = -1

// neighbour returns where the chain begins of the first bucket that has one, from one on forward or
// backward, 0 if none has, or farAway.
func (t *hashTable) neighbour(src *source.Source, from uint64, forward bool) int64 {
	for reads := 0; from < t.Buckets; reads++ {
		if reads == neighbourReads {
			return farAway
		}
		first, n := from, min(neighbourWords, t.Buckets-from)
		if !forward {
			n = min(neighbourWords, from+1)
			first = from + 1 - n
		}
		words, err := src.View(t.at+tableHeadSize+8*int64(first), int(8*n))
		if err != nil {
			return farAway
		}
		for i := range n {
			at := i
			if !forward {
				at = n - 1 - i
			}
			if off := int64(get64(words[8*at:], false)); off != 0 {
				return off
			}
		}
		if from += n; !forward {
			from = first - 1 // which wraps around below bucket 0
		}
	}
	return 0
}

// chainEnd returns where a chain ends, which has an item at least.
func (t *hashTable) chainEnd(src *source.Source, start int64) (int64, bool) {
	if start < t.payload || start > t.at-chainHeadSize {
		return 0, false
	}
	c := chainReader{src: src, pos: start, end: t.at, size: firstChainRead}
	items := int(get16(c.take(chainHeadSize), false))
	for i := 0; i < items && c.err == nil; i++ {
		c.item()
		c.skip(c.keyLen + c.dataLen)
	}
	return c.pos, items > 0 && c.err == nil
}

// check walks all chains and returns the first fault of a bucket: it does not lead to its chain, or
// not to the chain of an item.
func (t *hashTable) check(src *source.Source) error {
	w := t.walk(src, true, part{})
	chain, bucket := int64(0), uint64(0)
	for {
		first, start := w.items == 0, w.pos
		if !w.head() {
			return w.err
		}
		b := t.Bucket(w.hash)
		if first {
			at := t.at + tableHeadSize + 8*int64(b)
			word, err := src.View(at, 8)
			if err != nil {
				return err
			}
			if chain, bucket = int64(get64(word, false)), b; chain != start {
				return faultAt(sectionHashTable, at, fault.ErrHashTable, "bucket %d leads to offset %d, its chain is at %d", b, chain, start)
			}
		}
		if b != bucket {
			return faultAt(sectionPayload, start, fault.ErrHashTable, "an item of bucket %d is in the chain of bucket %d", b, bucket)
		}
		w.skip(w.keyLen + w.dataLen)
	}
}
