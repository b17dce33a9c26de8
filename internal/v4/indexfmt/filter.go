package indexfmt

import (
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The filter shows that a name is missing from both tables of names. A lookup of a missing name
// then reads one page of the filter instead of several pages of each table. It is a Bloom filter
// that consists of buckets, so that all bits of a name are in one place.

const (
	filterBucket   = 64 // size of a bucket in bytes; its bits have numbers of 9 bits
	filterProbes   = 6  // bits of a name
	filterKeyBits  = 10 // bits of the filter for each name: one missing name in 100 is not noticed
	filterPosition = 9

	// Buckets that are at most maxFilterGap bytes apart are read in one request. In a profile of
	// up to 400,000 names, these are any two buckets. At 10 MB/s the bytes take as long as two
	// requests.
	maxFilterGap = 512 << 10
)

// MayHave reports whether the index's tables of names may have an entry with a hash. It looks the
// hash up in the filter block, which has a few bits for each entry. Without a filter it returns
// true.
func (x *Index) MayHave(hash uint64) (bool, error) {
	b := x.byKind[Filter]
	n := uint64(b.Size) / filterBucket
	if n == 0 {
		return true, nil
	}
	var data [filterBucket]byte
	if err := x.read(data[:], b.Off+int64(bucket(hash, n))*filterBucket); err != nil {
		return false, err
	}
	for range filterProbes {
		at := hash % (8 * filterBucket)
		if data[at/8]<<(at%8)&0x80 == 0 {
			return false, nil
		}
		hash >>= filterPosition
	}
	return true, nil
}

// FilterAhead announces that the filter will be asked for several hashes. Their buckets are read
// together unless they are far apart.
func (x *Index) FilterAhead(hashes []uint64) {
	b := x.byKind[Filter]
	n := uint64(b.Size) / filterBucket
	if n == 0 || len(hashes) == 0 {
		return
	}
	buckets := make([]int64, len(hashes))
	for i, hash := range hashes {
		buckets[i] = b.Off + int64(bucket(hash, n))*filterBucket
	}
	if from, to := slices.Min(buckets), slices.Max(buckets)+filterBucket; to-from <= maxFilterGap {
		x.src.Ahead(x.pagesOf(from, to-from))
		return
	}
	parts := make([]Range, len(hashes))
	for i, off := range buckets {
		parts[i] = x.pagesOf(off, filterBucket)
	}
	x.src.Ahead(parts...)
}

// filterSize returns the number of buckets that the filter gets for the entries of some tables. The
// filter stores equal hashes once, so filterSize counts the different ones. It counts
// approximately, by marking hashes in a bit table with 16 bits for each entry, and so misses one in
// 30.
func filterSize(tables [][]Hashed) uint64 {
	entries := 0
	for _, t := range tables {
		entries += len(t)
	}
	const spread = 16
	seen := wire.NewBitSet(spread * entries)
	different := uint64(0)
	for _, t := range tables {
		for _, e := range t {
			at := uint32(bucket(e.Hash, spread*uint64(entries)))
			if !seen.Has(at) {
				seen.Add(at)
				different++
			}
		}
	}
	return (different*filterKeyBits + 8*filterBucket - 1) / (8 * filterBucket)
}

// FilterOf returns the filter block for the entries of several tables, by which a reader rejects
// most hashes that no table has.
func FilterOf(tables ...[]Hashed) []byte {
	n := filterSize(tables)
	data := make([]byte, n*filterBucket)
	for _, entries := range tables {
		for _, e := range entries {
			b, hash := data[bucket(e.Hash, n)*filterBucket:], e.Hash
			for range filterProbes {
				at := hash % (8 * filterBucket)
				b[at/8] |= 0x80 >> (at % 8)
				hash >>= filterPosition
			}
		}
	}
	return data
}
