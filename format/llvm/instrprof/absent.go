package instrprof

import (
	"encoding/binary"
	"sync"

	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/fault"
)

// This file handles lookups that find nothing. A damaged bucket must not make a function seem
// absent. LLVM writes chains without gaps, in the order of their buckets. So after a failed lookup,
// the reader checks that the chain of the bucket, or the last chain before it, ends where the next
// chain begins. If not, or if the number of buckets is not what LLVM would choose, the file is
// damaged or from another writer. The reader then checks the whole table, once.

// A soundness is the cached result of checking the whole table.
type soundness struct {
	mu      sync.Mutex
	checked bool
	fault   error
}

// absent returns an error if the table may contain a hash that a lookup has not found.
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

// closed reports whether there is no gap between the chains around a bucket.
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

// neighbourWords is the number of buckets read at once when searching for the next non-empty
// bucket, and neighbourReads is the maximum number of such reads. In LLVM's tables, more than a
// third of the buckets are non-empty.
const (
	neighbourWords = 32
	neighbourReads = 8
)

// farAway is the result of neighbour if it gives up.
const farAway = -1

// neighbour returns the offset of the chain of the first non-empty bucket, searching forward or
// backward from a bucket. It returns 0 if there is none, and farAway if it gives up after
// neighbourReads reads.
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
			if off := int64(binary.LittleEndian.Uint64(words[8*at:])); off != 0 {
				return off
			}
		}
		if from += n; !forward {
			from = first - 1 // wraps around below bucket 0, which ends the loop
		}
	}
	return 0
}

// chainEnd returns the offset of the end of a non-empty chain.
func (t *hashTable) chainEnd(src *source.Source, start int64) (int64, bool) {
	if start < t.payload || start > t.at-chainHeadSize {
		return 0, false
	}
	c := chainReader{src: src, pos: start, end: t.at, size: firstChainRead}
	items := int(binary.LittleEndian.Uint16(c.take(chainHeadSize)))
	for i := 0; i < items && c.err == nil; i++ {
		c.item()
		c.skip(c.keyLen + c.dataLen)
	}
	return c.pos, items > 0 && c.err == nil
}

// check walks all chains. It returns an error for the first bucket that does not lead to its chain,
// and for the first item in a chain of another bucket.
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
			if chain, bucket = int64(binary.LittleEndian.Uint64(word)), b; chain != start {
				return faultAt(sectionHashTable, at, fault.ErrHashTable, "bucket %d leads to offset %d, its chain is at %d", b, chain, start)
			}
		}
		if b != bucket {
			return faultAt(sectionPayload, start, fault.ErrHashTable, "an item of bucket %d is in the chain of bucket %d", b, bucket)
		}
		w.skip(w.keyLen + w.dataLen)
	}
}
