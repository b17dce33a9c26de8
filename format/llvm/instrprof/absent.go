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

// A soundness caches the result of checking all chains and buckets of the hash table, which is done
// once for a Reader.
type soundness struct {
	mu      sync.Mutex
	checked bool
	fault   error
}

// absent is called after a lookup has found no item with the hash. It returns an error if the hash
// table is damaged, so that it may contain the item after all.
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

// closed reports whether no bytes lie between the chain of a bucket, or the last chain before it,
// and the next chain. Otherwise a chain may have been lost because its bucket is damaged.
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

// farAway is the result of neighbour if it finds no chain within neighbourReads reads.
const farAway = -1

// neighbour returns the file offset of the chain of the first non-empty bucket. It begins at the
// bucket from and searches upwards if forward is set, otherwise downwards. It returns 0 if it finds
// none, and farAway if it gives up after neighbourReads reads.
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

// chainEnd returns the offset of the end of the non-empty chain that begins at start, and false if
// no such chain can be read there.
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

// check reads all chains. It returns an error for the first bucket that does not hold the offset of
// its chain, and for the first item whose hash belongs to another bucket than its chain.
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
