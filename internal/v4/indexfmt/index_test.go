package indexfmt

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An inMemory is a Source whose section is in memory.
type inMemory []byte

func (s inMemory) View(off int64, n int) ([]byte, error) { return s[off : off+int64(n)], nil }
func (s inMemory) Ahead(...Range)                        {}
func (s inMemory) Slow() bool                            { return false }

const (
	testSections = 7
	testSpan     = 1234
)

// sampleWriter returns a Writer for a file with three units. Its table of names has n keys, and
// each value belongs to two keys.
func sampleWriter(compact bool, n int) (w *Writer, keys []Hashed) {
	for i := range n {
		keys = append(keys, Hashed{Hash(fmt.Sprint("name ", i)), uint32(i / 2)})
	}
	w = &Writer{Compact: compact, Units: 3, End: &End{Head: []byte("gcov and so on"), Summary: 2, FileNames: 4}}
	w.Add(Names, AppendTable(nil, compact, keys))
	w.Add(Fingerprints, AppendFingerprint(AppendFingerprint(AppendFingerprint(AppendScheme(nil, "s"), 5), 6), 7))
	w.Add(Producer, []byte("a test"))
	return w, keys
}

// sample returns the index section that sampleWriter writes, and the keys of its table.
func sample(compact bool, n int) (section inMemory, keys []Hashed) {
	w, keys := sampleWriter(compact, n)
	bitmask := wire.SectionBitmask(wire.Index, compact)
	return append(inMemory{bitmask}, w.Section(testSections, testSpan)...), keys
}

func open(section inMemory, compact bool) (*Index, error) {
	return Open(section, int64(len(section)), compact, File{testSections, testSpan})
}

// eachSize calls test for indexes with one page and with many pages, in normal and in compact mode.
func eachSize(t *testing.T, test func(t *testing.T, compact bool, n int)) {
	for _, compact := range []bool{false, true} {
		for _, n := range []int{0, 1, 50, 5_000} {
			t.Run(fmt.Sprintf("compact=%v/keys=%d", compact, n), func(t *testing.T) { test(t, compact, n) })
		}
	}
}

func TestIndexReadsBack(t *testing.T) {
	eachSize(t, func(t *testing.T, compact bool, n int) {
		section, keys := sample(compact, n)
		x, err := open(section, compact)
		require.NoError(t, err)
		table, err := x.Table(Names)
		require.NoError(t, err)
		others := 0
		for _, k := range keys {
			values, err := table.Find(k.Hash, nil)
			require.NoError(t, err)
			require.True(t, slices.Contains(values, k.Value))
			others += len(values) - 1
		}
		require.LessOrEqual(t, others, n/10, "values of other hashes")
		w, _ := sampleWriter(compact, n)
		require.NoError(t, x.Check(w))
		key, err := x.Fingerprint(1)
		require.NoError(t, err)
		require.EqualValues(t, 6, key)
		_, err = x.Fingerprint(3)
		require.ErrorIs(t, err, fault.ErrIndex)
		producer, err := x.All(Producer)
		require.NoError(t, err)
		require.Equal(t, "a test", string(producer))
		require.NoError(t, x.CheckEnd())
	})
}

// Lists of callers are written and read back: equal lists, lists of functions whose IDs are not
// consecutive, and no lists at all. A function without a list has no callers.
func TestCallersReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{0, 1, callersGroup, 5*callersGroup + 7} {
		for _, compact := range []bool{false, true} {
			var callees []uint32
			lists := make(map[uint32][]uint32)
			callee, list := uint32(0), []uint32{0, 7, math.MaxUint32 >> 1}
			for range n {
				callee += uint32(random.IntN(2) * random.IntN(1000))
				if random.IntN(2) == 0 {
					list = append([]uint32{callee}, callee+1+uint32(random.IntN(100)))
				}
				callees, lists[callee] = append(callees, callee), list
				callee++
			}
			w := Writer{Compact: compact, Units: 3}
			callers, groups := AppendCallers(compact, func(yield func(uint32, []uint32) bool) {
				for _, callee := range callees {
					if !yield(callee, lists[callee]) {
						return
					}
				}
			})
			w.Add(Callers, callers)
			w.Add(CallerGroups, groups)
			bitmask := wire.SectionBitmask(wire.Index, compact)
			x, err := open(append(inMemory{bitmask}, w.Section(testSections, testSpan)...), compact)
			require.NoError(t, err)
			require.True(t, x.HasCallers())
			for id := range callee + 3 {
				got, err := x.Callers(id, nil)
				require.NoError(t, err)
				require.Equal(t, lists[id], got, "%d lists, symbol %d", n, id)
			}
		}
	}
}

// The first list of callers in a group is malformed if it says that it equals the list before.
func TestCallersRepeatNothing(t *testing.T) {
	for group, ok := range map[string]bool{"\x02\x05\x00": true, "\x00\x02\x05": false} {
		_, found := findCallers([]byte(group), 1, 2)
		require.Equal(t, ok, found, "%x", group)
	}
}

// OpenEnd and Open return the same index.
func TestIndexOpensByItsEnd(t *testing.T) {
	eachSize(t, func(t *testing.T, compact bool, n int) {
		section, _ := sample(compact, n)
		tail, ok := ReadTail(section[len(section)-TailSize:])
		require.True(t, ok)
		require.EqualValues(t, len(section), tail.Section)
		x, err := OpenEnd(section, tail, func(end *End) (File, error) {
			require.Equal(t, &End{[]byte("gcov and so on"), 2, 4}, end)
			return File{testSections, testSpan}, nil
		})
		require.NoError(t, err)
		require.Equal(t, compact, x.Compact())
		w, _ := sampleWriter(compact, n)
		require.NoError(t, x.Check(w))
		w.End.Summary++
		require.ErrorIs(t, x.Check(w), fault.ErrIndex)
	})
}

// The checksum of a page detects a change of any of its bytes.
func TestIndexDamaged(t *testing.T) {
	section, _ := sample(true, 500)
	for at := range section {
		damaged := slices.Clone(section)
		damaged[at] ^= 0x10
		x, err := open(damaged, true)
		for i := 0; err == nil && i < x.NumPages(); i++ {
			err = x.CheckPage(i)
		}
		var e *Error
		require.True(t, errors.As(err, &e), "byte %d: %v", at, err)
		require.ErrorIs(t, err, fault.ErrChecksum)
		require.Equal(t, at/pageSize*pageSize, e.Pos)
	}
}

// Opening an index fails if the file has another number of sections or another size than the file
// for which the index was written.
func TestIndexOfAnotherFile(t *testing.T) {
	section, _ := sample(false, 5)
	for name, file := range map[string]File{
		"sections": {testSections + 1, testSpan}, "span": {testSections, testSpan - 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(section, int64(len(section)), false, file)
			require.ErrorIs(t, err, fault.ErrIndex)
		})
	}
}

// The filter contains all keys of the tables, and reports few other keys as present.
func TestFilter(t *testing.T) {
	for _, n := range []int{1, 7, 1_000, 50_000} {
		var keys []Hashed
		for i := range n {
			keys = append(keys, Hashed{Hash(fmt.Sprint("name ", i)), uint32(i)})
		}
		w := Writer{Compact: true, Units: 3}
		w.Add(Filter, FilterOf(keys[:n/2], keys[n/2:], keys[:1]))
		section := append(inMemory{wire.SectionBitmask(wire.Index, true)}, w.Section(testSections, testSpan)...)
		x, err := open(section, true)
		require.NoError(t, err)
		for _, k := range keys {
			has, err := x.MayHave(k.Hash)
			require.NoError(t, err)
			require.True(t, has)
		}
		others := 0
		for i := range 10_000 {
			if has, err := x.MayHave(Hash(fmt.Sprint("other ", i))); has {
				require.NoError(t, err)
				others++
			}
		}
		require.Less(t, others, 200)
	}
}
