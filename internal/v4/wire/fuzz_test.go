package wire

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Fields of any width decode varints as a simple implementation does. An encoded varint is read
// back, and takes as few bytes as possible.
func FuzzVarint(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{0x7f, 0xff})
	f.Add([]byte{0xff, 0xff, 0x03, 0x80, 0x80, 0x00})
	f.Add(binary.AppendUvarint(nil, 1<<32))
	f.Add(bytes.Repeat([]byte{0xff}, 11))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, width := range []int{2, 3, 4, 7, 8} {
			want, size, ok := plainVarint(data, width)
			fields := Fields{Data: data, Compact: true}
			got := fields.Uint(width)
			if ok != (fields.Err == nil) || ok && (got != want || fields.Pos != size) {
				t.Fatalf("%x as %d bytes: %d in %d, %v; want %d in %d, %v", data, width, got, fields.Pos, fields.Err, want, size, ok)
			}
			if !ok {
				continue
			}
			for _, compact := range []bool{false, true} {
				e := Encoder{Compact: compact}
				e.Uint(width, want)
				out, back := e.Data, Fields{Data: e.Data, Compact: compact}
				if back.Uint(width) != want || back.Rest() != 0 || back.Err != nil {
					t.Fatalf("%d in %d bytes, compact %v, reads back otherwise from %x", want, width, compact, out)
				}
				if compact && len(out) != VarintLen(want) {
					t.Fatalf("%d takes %d bytes, not %d", want, len(out), VarintLen(want))
				}
			}
		}
		pos, n := 0, uint64(0)
		for ; pos < len(data); n++ {
			if got := SkipVarints(data, n); got != pos {
				t.Fatalf("%d varints of %x take %d bytes, not %d", n, data, got, pos)
			}
			for pos < len(data) && data[pos] >= 0x80 {
				pos++
			}
			pos++
		}
		if got := SkipVarints(data, n+1); got != -1 {
			t.Fatalf("%x has %d varints? they take %d bytes", data, n+1, got)
		}
	})
}

// plainVarint decodes a varint as format note 5 describes it, byte by byte.
func plainVarint(data []byte, width int) (v uint64, size int, ok bool) {
	for i := 0; i < len(data) && i < 10; i++ {
		b := data[i]
		if i == 9 && b > 1 {
			return 0, 0, false
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, i + 1, width == 8 || v < 1<<(8*width)
		}
	}
	return 0, 0, false
}

// Decoding a whole string table, looking up single strings, and decoding the table in parts give
// the same strings. data begins with the bitmask byte of the section.
func FuzzTrie(f *testing.F) {
	for _, compact := range []bool{false, true} {
		mask := SectionBitmask(StringTable, compact)
		for _, names := range [][]string{{}, {""}, {"f", "g"}, {"a", "ab", "abc", "b", "ca", "cb"}, {"_ZN4shop4Cart3addEv", "_ZN4shop4Cart5clearEv", "_ZN4shop4Cart"}} {
			units := []naive.Unit{{End: uint32(len(names))}}
			for i, n := range names {
				units[0].Symbols = append(units[0].Symbols, naive.Symbol{ID: uint32(i), Name: n})
			}
			f.Add(append([]byte{mask}, gen.Lay(&naive.File{Units: units}, compact).Sections[2].Data...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		data[0] = SectionBitmask(StringTable, data[0]&CompactFlag != 0)
		open := func() Fields { return Fields{Data: data, Pos: 1, Compact: data[0]&CompactFlag != 0} }
		const limit = 1 << 20
		fields := open()
		names := fields.Strings(limit)
		if fields.Err != nil {
			return
		}
		there := map[string]bool{}
		for _, name := range names {
			if there[name] {
				t.Fatalf("two strings are %q", name)
			}
			there[name] = true
		}
		for n := 1; n < 4; n++ {
			inParts(t, open(), names, n)
		}
	})
}

// inParts decodes a string table in parts of n strings and compares them with names. It does
// nothing if the strings are not numbered in the order of the trie.
func inParts(t *testing.T, table Fields, names []string, n int) {
	all := table
	marks, ok := table.TrieMarks(n)
	if !ok {
		return
	}
	wanted := NewBitSet(len(names))
	for i := range names {
		wanted.Add(uint32(i))
	}
	for i := range marks {
		part := all
		if part.Data = all.Data[marks[i].Pos:]; i+1 < len(marks) {
			part.Data = all.Data[marks[i].Pos:marks[i+1].Pos]
		}
		part.Pos = 0
		next := i * n
		yield := func(index uint32, name []byte) bool {
			if int(index) != next || names[index] != string(name) {
				t.Fatalf("part %d of %d strings: string %d is %q, want %d, %q", i, n, index, name, next, names[index])
			}
			next++
			return true
		}
		if !part.PickStringsFrom(&marks[i], new(TrieMark), wanted, yield) && i+1 < len(marks) || next != min((i+1)*n, len(names)) {
			t.Fatalf("part %d of %d strings ends at string %d of %d: %v", i, n, next, len(names), part.Err)
		}
	}
}
