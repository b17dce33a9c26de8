package hashtable

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

var names, numbers, lean = Format{}, Format{KeySize: 8}, Format{KeySize: 8, Lean: true}

func words(list ...uint64) (p []byte) {
	for _, w := range list {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

func TestHeads(t *testing.T) {
	for name, c := range map[string]struct {
		format  Format
		data    []byte
		chains  uint64
		room    uint64
		class   error // nil if it is sound
		faultAt int
	}{
		"names":               {names, words(4, 2), 48, 32, nil, 0},
		"one bucket":          {names, words(1, 0), 0, 8, nil, 0},
		"numbers":             {numbers, words(4, 2), 64, 32, nil, 0},
		"lean":                {lean, words(4, 2), 48, 32, nil, 0},
		"no bucket":           {names, words(0, 2), 48, 32, fault.ErrHashTable, 0},
		"three buckets":       {names, words(3, 2), 48, 32, fault.ErrHashTable, 0},
		"too many buckets":    {names, words(4, 2), 48, 31, afdo.ErrCount, 0},
		"very many buckets":   {names, words(1<<63, 2), 48, 32, afdo.ErrCount, 0},
		"too many names":      {names, words(4, 2), 47, 32, afdo.ErrCount, 8},
		"too many numbers":    {numbers, words(4, 2), 63, 32, afdo.ErrCount, 8},
		"too many lean items": {lean, words(4, 2), 47, 32, afdo.ErrCount, 8},
		"very many entries":   {names, words(4, math.MaxUint64), 48, 32, afdo.ErrCount, 8},
		"cut":                 {names, words(4, 2)[:15], 48, 32, afdo.ErrTruncated, 8},
	} {
		t.Run(name, func(t *testing.T) {
			b := decode.Buffer{Data: c.data}
			h := c.format.ReadHead(&b, c.chains, c.room)
			if c.class == nil {
				require.Nil(t, b.Err)
				assert.Equal(t, c.data, words(h.Buckets, h.NumEntries))
				return
			}
			require.NotNil(t, b.Err)
			assert.Equal(t, c.class, b.Err.Class)
			assert.Equal(t, c.faultAt, b.Err.Pos)
			assert.Zero(t, h.Bucket(math.MaxUint64), "lookups do no harm")
		})
	}
}

func TestItems(t *testing.T) {
	for name, c := range map[string]struct {
		format  Format
		item    Item
		room    uint64
		class   error // nil if it is sound
		faultAt int
	}{
		"name":          {names, Item{7, 4, 20}, 24, nil, 0},
		"number":        {numbers, Item{7, 8, 20}, 28, nil, 0},
		"lean":          {lean, Item{7, 8, 20}, 28, nil, 0},
		"empty":         {lean, Item{7, 8, 0}, 8, nil, 0},
		"long name":     {names, Item{7, 25, 0}, 24, afdo.ErrTruncated, 8},
		"long data":     {names, Item{7, 4, 21}, 24, afdo.ErrTruncated, 8},
		"sum overflows": {names, Item{7, 4, math.MaxUint64}, 24, afdo.ErrTruncated, 8},
		"long number":   {numbers, Item{7, 9, 0}, 28, fault.ErrHashTable, 8},
		"of numbers":    {numbers, Item{7, 8, 21}, 28, afdo.ErrTruncated, 16},
		"of lean items": {lean, Item{7, 8, 21}, 28, afdo.ErrTruncated, 8},
		"cut key":       {lean, Item{7, 8, 0}, 7, afdo.ErrTruncated, 8},
	} {
		t.Run(name, func(t *testing.T) {
			b := decode.Buffer{Data: c.format.AppendItem(nil, c.item)}
			require.Len(t, b.Data, c.format.ItemHeadSize())
			got := c.format.ReadItem(&b, c.room)
			if c.class == nil {
				require.Nil(t, b.Err)
				assert.Equal(t, c.item, got)
				return
			}
			require.NotNil(t, b.Err)
			assert.Equal(t, c.class, b.Err.Class, b.Err.Detail)
			assert.Equal(t, c.faultAt, b.Err.Pos)
			assert.Zero(t, got)
		})
	}
}

// TestFindInCutItem looks for the hash 0 in a chain that ends before its first item. The error is
// about the end of the chain: the item that could not be read has no key to compute a hash of.
func TestFindInCutItem(t *testing.T) {
	f := numbers
	f.Hash = binary.LittleEndian.Uint64
	f.Fault = func(_ string, offset int64, class error, _ string, _ ...any) error {
		return &fault.FormatError{Offset: offset, Err: class}
	}
	chains := append(words(0), 1, 0) // one item, of which nothing follows
	data := append(chains, words(1, 0, 8)...)
	table, err := f.Open(source.OfPart(data, 0), 8, int64(len(chains)), int64(len(data)))
	require.NoError(t, err)
	_, err = table.Find(0, nil)
	require.ErrorIs(t, err, afdo.ErrTruncated)
}

// TestNumBuckets checks that the number of buckets is the next power of two above four thirds of
// the number of entries.
func TestNumBuckets(t *testing.T) {
	for entries, want := range []int{1, 1, 1, 8, 8, 8, 16, 16, 16, 16, 16, 16, 32} {
		assert.Equal(t, want, NumBuckets(entries), "%d", entries)
	}
	for entries := 3; entries < 5000; entries++ {
		n := 1
		for n <= entries*4/3 {
			n *= 2
		}
		require.Equal(t, n, NumBuckets(entries))
	}
}
