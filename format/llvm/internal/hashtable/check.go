package hashtable

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/fault"
)

// This file handles lookups that find nothing. A damaged bucket must not make an item seem absent.
// LLVM writes chains without gaps, in the order of their buckets. So after a failed lookup, absent
// checks that the chain of the bucket, or the last chain before it, ends where the next chain
// begins. If not, or if the number of buckets is not what LLVM would choose, the file is damaged or
// from another writer. Then absent checks all chains, once for each Table.

// absent returns the error for a key that was not found in the chain of its bucket. This is
// fault.ErrNotFound if the table is intact. If the table is damaged, so that it may contain the key
// after all, the error describes the damage.
func (t *Table) absent(bucket uint64) error {
	if !t.closed(bucket) {
		if err := t.sound(); err != nil {
			return err
		}
	}
	return fault.ErrNotFound
}

// closed reports whether the table has no unused bytes after the chain of a bucket or, if the
// bucket is empty, after the last chain before it. Unused bytes may be a chain that cannot be found
// because its bucket is damaged.
func (t *Table) closed(bucket uint64) bool {
	if !t.Usual() {
		return false
	}
	end, ok := t.payload, true
	if start := t.neighbour(bucket, false); start != 0 {
		end, ok = t.chainEnd(start)
	}
	next := t.neighbour(bucket+1, true)
	if next == 0 {
		return ok && end <= t.At && t.At-end <= maxPad
	}
	return ok && end == next
}

// Limits of the search for the next non-empty bucket. neighbourWords is the number of buckets read
// at once, and neighbourReads is the maximum number of reads. In LLVM's tables, more than a third
// of the buckets are not empty.
const (
	neighbourWords = 32
	neighbourReads = 8
)

// farAway is the result of [Table.neighbour] if it has not found a chain within neighbourReads
// reads.
const farAway = -1

// neighbour searches for a non-empty bucket, and returns the file offset of the bucket's chain. It
// begins at the bucket from. It searches upwards if forward is set, and downwards otherwise. It
// returns 0 if all these buckets are empty, and farAway if it gives up after neighbourReads reads.
func (t *Table) neighbour(from uint64, forward bool) int64 {
	for reads := 0; from < t.Buckets; reads++ {
		if reads == neighbourReads {
			return farAway
		}
		first, n := from, min(neighbourWords, t.Buckets-from)
		if !forward {
			n = min(neighbourWords, from+1)
			first = from + 1 - n
		}
		words, err := t.src.View(t.bucketAt(first), int(word*n))
		if err != nil {
			return farAway
		}
		for i := range n {
			at := i
			if !forward {
				at = n - 1 - i
			}
			if off := int64(binary.LittleEndian.Uint64(words[word*at:])); off != 0 {
				return off
			}
		}
		if from += n; !forward {
			from = first - 1 // wraps around below bucket 0, which ends the loop
		}
	}
	return 0
}

// chainEnd returns the file offset at which the chain ends that begins at start. The second result
// is false if there is no such chain, or if it is empty.
func (t *Table) chainEnd(start int64) (int64, bool) {
	if start < t.payload || start > t.At-ChainHeadSize {
		return 0, false
	}
	c := t.reader(start, firstChainRead, false)
	items := c.count()
	for i := 0; i < items && c.err == nil; i++ {
		c.item()
		c.skip(c.KeySize + c.DataSize)
	}
	return c.pos, items > 0 && c.err == nil
}

// checkChains reads all entries of the table. It returns the first error of reading. It also
// returns an error for the first entry whose bucket does not lead to the chain that contains the
// entry.
func (t *Table) checkChains() error {
	for e, err := range t.Entries(true, Every) {
		if err != nil {
			return err
		}
		bucket := t.Bucket(e.Hash)
		if chain, err := t.chain(bucket); err != nil || chain != e.Chain {
			return t.fault(t.bucketAt(bucket), fault.ErrHashTable, "bucket %d does not lead to the chain at offset %d of one of its items", bucket, e.Chain)
		}
	}
	return nil
}

// Check reads all entries of the table, and calls each for every entry. It calls report for an
// error that ends reading, for buckets that do not lead to their chains, and for entries that are
// in the chain of another bucket. It returns false if an error ended reading. It takes memory for
// the offsets of the chains.
func (t *Table) Check(each func(Entry), report func(error)) bool {
	chains := map[uint64]int64{} // file offset of each chain, by bucket
	last, whole := int64(0), true
	for e, err := range t.Entries(true, Every) {
		if err != nil {
			report(err)
			whole = false
			break
		}
		if bucket := t.Bucket(e.Hash); e.Chain != last {
			chains[bucket], last = e.Chain, e.Chain
		} else if _, ok := chains[bucket]; !ok {
			report(t.format.Fault(t.format.Chains, e.At, fault.ErrHashTable, "the item with key %q is in the chain of another bucket", e.Key))
		}
		each(e)
	}
	t.checkBuckets(chains, whole, report)
	return whole
}

// checkBuckets compares the offsets in the buckets with the chains that Check has found. chains has
// the file offset of each chain, by the number of its bucket. whole means that Check has read all
// chains.
func (t *Table) checkBuckets(chains map[uint64]int64, whole bool, report func(error)) {
	data, err := t.src.View(t.bucketAt(0), int(word*t.Buckets))
	if err != nil {
		report(err)
		return
	}
	for b := range t.Buckets {
		off := int64(binary.LittleEndian.Uint64(data[word*b:]))
		if found := chains[b]; off != found && (whole || found != 0) {
			report(t.fault(t.bucketAt(b), fault.ErrHashTable, "bucket %d leads to offset %d, but its chain is at %d (0 means none)", b, off, found))
		}
	}
}
