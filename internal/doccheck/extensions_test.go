package doccheck

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

const (
	extensionsGuide  = "docs/reference/extensions.md"
	indexWalkThrough = "spec/conformance/index-walkthrough.txt"
)

// An indexAnnotator lists the fields of an index, as annotator does for the rest of a file. It is
// written from docs/reference/extensions.md alone, and does not use the code that reads indexes.
type indexAnnotator struct {
	annotator
	units int
}

func (a *indexAnnotator) list(n int, numbers []uint64, name string) {
	texts := make([]string, len(numbers))
	for i, v := range numbers {
		texts[i] = strconv.FormatUint(v, 10)
	}
	a.row(n, strings.Join(texts, " "), name)
}

// packed reads n numbers of width bits.
func packed(data []byte, n, width int) (numbers []uint64, size int) {
	at := 0
	for range n {
		v := uint64(0)
		for range width {
			v = v<<1 | uint64(data[at/8]>>(7-at%8)&1)
			at++
		}
		numbers = append(numbers, v)
	}
	return numbers, (at + 7) / 8
}

func (a *indexAnnotator) packed(n, width int, name string) []uint64 {
	numbers, size := packed(a.data[a.pos:], n, width)
	if size > 0 {
		a.list(size, numbers, name)
	}
	return numbers
}

func (a *indexAnnotator) index(section int) {
	a.bitmask("GCOV_SECTION_BITMASK")
	a.compact = a.data[0]&0x80 != 0
	a.text(4, "INDEX_MAGIC")
	a.uint8("INDEX_VERSION")
	a.uint(4, "INDEX_NUM_SECTIONS")
	a.uint(8, "INDEX_SPAN")
	a.units = int(a.uint(4, "INDEX_NUM_UNITS"))
	var kinds, sizes []int
	for range a.uint8("INDEX_NUM_BLOCKS") {
		kinds = append(kinds, int(a.uint8("BLOCK_KIND")))
		sizes = append(sizes, int(a.uint(8, "BLOCK_SIZE")))
	}
	for i, kind := range kinds {
		a.lines.WriteString("\n")
		end := a.pos + sizes[i]
		a.block(kind, section, sizes[i])
		if a.pos != end {
			panic(fmt.Sprintf("block %d ends at %d, not %d", kind, a.pos, end))
		}
	}
}

func (a *indexAnnotator) uint8(name string) int {
	v := int(a.data[a.pos])
	a.row(1, strconv.Itoa(v), name)
	return v
}

func (a *indexAnnotator) block(kind, section, size int) {
	switch kind {
	case 1:
		ranked := int(a.uint(4, "UNITS_NUM_RANKED"))
		offset, id, rank := a.uint8("UNITS_OFFSET_BITS"), a.uint8("UNITS_ID_BITS"), a.uint8("UNITS_RANK_BITS")
		a.pairs(a.units+1, offset, 32, "UNITS_ENTRIES")
		a.pairs(ranked, id, rank, "UNITS_BY_ID")
	case 2, 3:
		a.table()
	case 4:
		a.text(uint64(a.uint8("SCHEME_LENGTH")), "SCHEME_NAME")
		a.table()
	case 6:
		for range section {
			sum := binary.BigEndian.Uint32(a.data[a.pos:])
			a.row(4, fmt.Sprintf("%08x", sum), "CHECKSUM")
		}
	case 7:
		a.text(uint64(a.uint8("SCHEME_LENGTH")), "SCHEME_NAME")
		for range a.units {
			a.row(8, fmt.Sprintf("%016x", binary.BigEndian.Uint64(a.data[a.pos:])), "FINGERPRINT")
		}
	case 8:
		a.text(uint64(size), "PRODUCER")
	case 9:
		a.row(size, "", "BUILD_ID")
	case 10:
		a.uint(4, "SECTIONS_SUMMARY")
		a.uint(4, "SECTIONS_FILE_NAMES")
		width := a.uint8("SECTIONS_POSITION_BITS")
		if a.compact { // as the header is
			a.packed((section-2+1+31)/32+1, width, "SECTIONS_POSITIONS")
		}
	case 11:
		a.runs(size)
	case 12:
		a.end(size)
	case 13:
		for range size / 64 {
			a.row(64, "", "FILTER_BUCKET")
		}
	case 14:
		a.copies(size)
	case 15:
		a.callers(size)
	case 17:
		a.row(size, "", "OVERVIEW")
	case 18:
		a.parts(size)
	case 16:
		n := int(a.uint(4, "GROUPS_NUM"))
		id, offset := a.uint8("GROUPS_ID_BITS"), a.uint8("GROUPS_OFFSET_BITS")
		a.pairs(n+1, id, offset, "GROUPS_ROWS")
	}
}

func (a *indexAnnotator) copies(size int) {
	end := a.pos + size
	for _, name := range []string{"COPIES_SUMMARY", "COPIES_FILE_NAMES"} {
		a.row(4, fmt.Sprintf("%08x", binary.BigEndian.Uint32(a.data[a.pos:])), name)
	}
	for a.pos < end {
		a.uint8("COPIES_KIND")
		a.row(a.uint8("COPIES_SIZE"), "", "COPIES_HEAD")
	}
}

func (a *indexAnnotator) callers(size int) {
	end := a.pos + size
	a.always(true, func() {
		for a.pos < end {
			size := int(a.uint(4, "CALLERS_SIZE"))
			if size%2 != 0 {
				a.uint(4, "CALLERS_DISTANCE")
			}
			a.ascending(a.pos+size/2, "CALLERS_LIST")
		}
	})
}

func (a *indexAnnotator) parts(size int) {
	end := a.pos + size
	n := int(a.uint(4, "PARTS_NUM"))
	rank, offset := a.uint8("PARTS_RANK_BITS"), a.uint8("PARTS_OFFSET_BITS")
	a.pairs(n+1, rank, offset, "PARTS_ROWS")
	a.always(true, func() {
		for a.pos < end {
			a.uint8("PARTED_FLAGS")
			count := a.uint(4, "PARTED_NUM_SYMBOLS")
			a.uint(4, "PARTED_FIRST_NODE")
			a.uint(4, "PARTED_FIRST_ROW")
			for range (count + 63) / 64 {
				a.part()
			}
		}
	})
}

func (a *indexAnnotator) part() {
	a.uint(4, "PART_STRINGS_SIZE")
	a.uint(4, "PART_ROWS_SIZE")
	for _, name := range []string{"PART_STRINGS_CHECKSUM", "PART_ROWS_CHECKSUM"} {
		a.row(4, fmt.Sprintf("%08x", binary.BigEndian.Uint32(a.data[a.pos:])), name)
	}
	a.uint(4, "PART_PATH_SHARED")
	if n := int(a.uint(4, "PART_PATH_SIZE")); n > 0 {
		a.row(n, "", "PART_PATH")
	}
	for range a.uint(4, "PART_NUM_NODES") {
		a.uint(2, "NODE_DISTANCE")
		a.uint8("NODE_CHILDREN")
	}
}

// ascending reads a list of ascending numbers, stored as differences, up to an offset.
func (a *indexAnnotator) ascending(end int, name string) {
	var ids []uint64
	at := a.pos
	for next := uint64(0); at < end; next++ {
		v, n := binary.Uvarint(a.data[at:])
		next += v
		ids = append(ids, next)
		at += n
	}
	if len(ids) > 0 {
		a.list(end-a.pos, ids, name)
	}
}

// always calls f while the annotator is in the given mode, compact or normal. Some fields of an
// index have the same mode in every file.
func (a *indexAnnotator) always(compact bool, f func()) {
	was := a.compact
	a.compact = compact
	f()
	a.compact = was
}

func (a *indexAnnotator) runs(size int) {
	end := a.pos + size
	places := end - 1 - (int(a.data[end-1])*(a.units+1)+7)/8
	a.always(true, func() {
		for a.pos < places {
			a.row(1, fmt.Sprintf("0x%02x", a.data[a.pos]), "RUN_BITMASK")
			n := int(a.uint(4, "RUN_ENTRY_SIZE"))
			a.row(n, "", "RUN_ENTRY")
			sections := int(a.uint(4, "RUN_NUM_SECTIONS"))
			if sections == 0 {
				continue
			}
			a.uint(4, "RUN_FIRST")
			a.uint(8, "RUN_OFFSET")
			for range sections {
				a.uint(8, "RUN_SIZE")
			}
			for _, name := range []string{"RUN_NAMES_CHECKSUM", "RUN_INFOS_CHECKSUM"} {
				a.row(4, fmt.Sprintf("%08x", binary.BigEndian.Uint32(a.data[a.pos:])), name)
			}
		}
	})
	a.packed(a.units+1, int(a.data[end-1]), "RUNS_PLACES")
	a.uint8("RUNS_PLACE_BITS")
}

func (a *indexAnnotator) end(size int) {
	end := a.pos + size
	a.always(false, func() {
		a.row(a.uint8("END_HEAD_SIZE"), "", "END_HEAD")
		a.uint(4, "END_SUMMARY")
		a.uint(4, "END_FILE_NAMES")
		a.row(end-16-a.pos, "", "END_INDEX_HEAD")
		a.uint(4, "END_SIZE")
		a.uint(8, "END_INDEX_SIZE")
		a.text(4, "INDEX_MAGIC")
	})
}

// pairs reads n pairs of numbers.
func (a *indexAnnotator) pairs(n, first, second int, name string) {
	numbers, size := packed(a.data[a.pos:], n, first+second)
	texts := make([]string, n)
	for i, v := range numbers {
		low := v & (1<<second - 1)
		format := "%d:%d"
		if second == 32 {
			format = "%d:%08x"
		}
		texts[i] = fmt.Sprintf(format, v>>second, low)
	}
	if size > 0 {
		a.row(size, strings.Join(texts, " "), name)
	}
}

func (a *indexAnnotator) table() {
	n, buckets := int(a.uint(4, "TABLE_NUM_ENTRIES")), int(a.uint(4, "TABLE_NUM_BUCKETS"))
	value, remainder := a.uint8("TABLE_VALUE_BITS"), a.uint8("TABLE_REMAINDER_BITS")
	a.packed(buckets+1, bits.Len(uint(n)), "TABLE_STARTS")
	a.pairs(n, remainder, value, "TABLE_ENTRIES")
}

// content splits an index section into its pages, compares their checksums, and returns the
// contents of all pages.
func content(t *testing.T, section []byte) []byte {
	t.Helper()
	var all []byte
	for page := uint64(0); len(section) > 0; page++ {
		p := section[:min(1024, len(section))]
		section = section[len(p):]
		held := p[:len(p)-4]
		d := xxhash.NewWithSeed(page)
		_, _ = d.Write(held)
		require.Equal(t, uint32(d.Sum64()), binary.BigEndian.Uint32(p[len(held):]), "page %d", page)
		all = append(all, held...)
	}
	return all
}

// indexedExample returns the example of docs/reference/format.md with an index, and the section
// with the index.
func indexedExample(t *testing.T, compact bool) (file, section []byte, rank int) {
	t.Helper()
	r, err := afdo.OpenBytes(example(t, compact))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, index.Write(&b, r, &index.Options{Producer: "afdo v0.1.0"}))
	r, err = afdo.OpenBytes(b.Bytes())
	require.NoError(t, err)
	x, err := index.Read(r)
	require.NoError(t, err)
	info, err := x.Info()
	require.NoError(t, err)
	return b.Bytes(), b.Bytes()[info.Section.Offset:], info.Section.Index
}

// TestIndexWalkThrough compares the index that docs/reference/extensions.md shows byte by byte with
// one that the library writes.
func TestIndexWalkThrough(t *testing.T) {
	for _, compact := range []bool{false, true} {
		name := map[bool]string{false: "hex index", true: "hex compact index"}[compact]
		file, section, rank := indexedExample(t, compact)
		a := indexAnnotator{annotator: annotator{data: content(t, section)}}
		a.index(rank)
		want := a.take()
		last := len(section) - 4
		want += fmt.Sprintf("\n%04x  % x              %08x        PAGE_CHECKSUM\n", last, section[last:], binary.BigEndian.Uint32(section[last:]))
		assert.Equal(t, want, blocks(t, indexWalkThrough, name)[0])
		assert.Contains(t, read(t, indexWalkThrough), fmt.Sprintf("%d bytes", len(section)))

		var checksums []string
		for _, m := range regexp.MustCompile(`(?m)^.* ([0-9a-f]{8}) +CHECKSUM$`).FindAllStringSubmatch(want, -1) {
			checksums = append(checksums, m[1])
		}
		r, err := afdo.OpenBytes(file)
		require.NoError(t, err)
		require.Len(t, checksums, r.NumSections()-1)
		for i, sum := range checksums {
			s, err := r.Section(i)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("%08x", uint32(xxhash.Sum64(file[s.Offset:s.Offset+s.Size]))), sum)
		}
	}
}

// TestIndexAsSpecified looks up every path and name in the index of a larger file with code that is
// written from docs/reference/extensions.md alone.
func TestIndexAsSpecified(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, synth.Profile(synth.Small), builder.Options{Compact: true, Index: &index.Options{}}))
	r, err := afdo.OpenBytes(file.Bytes())
	require.NoError(t, err)
	x, err := index.Read(r)
	require.NoError(t, err)
	info, err := x.Info()
	require.NoError(t, err)
	at := indexAnnotator{annotator: annotator{data: content(t, file.Bytes()[info.Section.Offset:])}}
	at.index(info.Section.Index)
	paths, names := specifiedTable(t, at.data, 2), specifiedTable(t, at.data, 3)
	filter := specifiedBlock(t, at.data, 13)
	for u, err := range r.Units() {
		require.NoError(t, err)
		require.Contains(t, paths(u.Path()), uint64(u.Index()))
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			cut, _, _ := strings.Cut(s.Name(), ".")
			require.Contains(t, names(cut), uint64(s.ID()))
			require.True(t, inFilter(filter, cut))
		}
	}
}

// TestPartsAsSpecified reads the index block with the parts of names of a unit, with code that is
// written from docs/reference/extensions.md alone.
func TestPartsAsSpecified(t *testing.T) {
	p := profile.New()
	unit := p.AddUnit("large.h")
	for i := range 700 {
		p.AddSymbol(unit, fmt.Sprintf("_ZN4part%d", i*i))
	}
	for _, compact := range []bool{false, true} {
		var file bytes.Buffer
		require.NoError(t, builder.Write(&file, p, builder.Options{Compact: compact, Index: &index.Options{}}))
		r, err := afdo.OpenBytes(file.Bytes())
		require.NoError(t, err)
		x, err := index.Read(r)
		require.NoError(t, err)
		info, err := x.Info()
		require.NoError(t, err)
		a := indexAnnotator{annotator: annotator{data: content(t, file.Bytes()[info.Section.Offset:])}}
		a.index(info.Section.Index)
		text := a.take()
		require.Equal(t, 11, strings.Count(text, "PART_STRINGS_SIZE"))
		require.Contains(t, text, "700             PARTED_NUM_SYMBOLS")
	}
}

// specifiedBlock returns the block of a kind from the contents of an index in compact mode.
func specifiedBlock(t *testing.T, content []byte, kind byte) []byte {
	t.Helper()
	pos := 1 + 4 + 1
	uvarint := func() uint64 {
		v, n := binary.Uvarint(content[pos:])
		pos += n
		return v
	}
	for range 3 {
		uvarint()
	}
	blocks := int(content[pos])
	pos++
	before, size, found := uint64(0), uint64(0), false
	for range blocks {
		is := content[pos] == kind
		pos++
		n := uvarint()
		if is {
			found, size = true, n
		}
		if !found {
			before += n
		}
	}
	require.True(t, found)
	return content[pos+int(before):][:size]
}

// inFilter reports whether the filter of an index accepts a key. It may also accept keys that the
// index lacks.
func inFilter(filter []byte, key string) bool {
	hash := xxhash.Sum64String(key)
	bucket, _ := bits.Mul64(hash, uint64(len(filter)/64))
	for range 6 {
		at := hash % 512
		if filter[bucket*64+at/8]&(0x80>>(at%8)) == 0 {
			return false
		}
		hash /= 512
	}
	return true
}

// specifiedTable returns a function that looks up keys in the hash table of an index block.
func specifiedTable(t *testing.T, content []byte, kind byte) func(key string) []uint64 {
	t.Helper()
	content = specifiedBlock(t, content, kind)
	pos := 0
	uvarint := func() uint64 {
		v, n := binary.Uvarint(content[pos:])
		pos += n
		return v
	}
	n, buckets := int(uvarint()), int(uvarint())
	value, remainder := int(content[pos]), int(content[pos+1])
	starts, size := packed(content[pos+2:], buckets+1, bits.Len(uint(n)))
	entries, _ := packed(content[pos+2+size:], n, remainder+value)
	return func(key string) (values []uint64) {
		hash := xxhash.Sum64String(key)
		bucket, _ := bits.Mul64(hash, uint64(buckets))
		for _, e := range entries[starts[bucket]:starts[bucket+1]] {
			if e>>value == hash&(1<<remainder-1) {
				values = append(values, e&(1<<value-1))
			}
		}
		return values
	}
}
