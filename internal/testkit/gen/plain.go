// Package gen generates version 4 files for tests: random legal files of every shape with their
// meaning ([Random]), given files ([Encode], [Lay]), large and hostile files ([Big], [Nested],
// [TrieChain], [HugeNames]), and parts for creating malformed files by hand ([Enc], [Layout]). It
// has its own encoder, written from the RFC. It imports only package naive, whose types describe
// the meaning of a file.
package gen

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Encode writes a file in the plain layout of [Lay].
func Encode(f *naive.File, compact bool) []byte {
	return Lay(f, compact).Bytes()
}

// Lay returns the sections of a version 4 file that has the content of f. It lays the sections
// out in this order: summary, file names, then for each unit its string table, its symbol names,
// and the symbol infos of those symbols that have one. It takes from f the summary, the paths
// and ID ranges of units, and the IDs, names and infos of symbols. It chooses section indexes,
// string indexes and numbers of locations itself: the string index of a symbol is its index in
// the list of the unit's symbols.
//
// Nothing is checked. To create a malformed file, pass a wrong f or change the Layout: section 0
// is the summary, section 1 the file names, and [UnitSections] finds the rest.
func Lay(f *naive.File, compact bool) *Layout {
	g := &generator{o: Options{Compact: compact}}
	truth := &naive.File{Summary: f.Summary}
	var units []*unit
	for _, u := range f.Units {
		laid := &unit{truth: u}
		laid.truth.Symbols, laid.truth.Strings = nil, nil
		for i, s := range u.Symbols {
			s.StringIndex, s.InfoSection = uint32(i), naive.NoInfo
			laid.symbols = append(laid.symbols, symbol{s, recordsOf(s.Locations)})
			laid.truth.Strings = append(laid.truth.Strings, s.Name)
		}
		units = append(units, laid)
	}
	l := &Layout{}
	g.encode(l, g.place(truth, l, units))
	l.Table = nil // sections may be added
	return l
}

// UnitSections returns the section indexes of a unit's string table and symbol names in a Layout
// made by [Lay]. The sections with the samples of the unit's symbols come directly after them.
func UnitSections(f *naive.File, unit int) (stringTable, symbolNames int) {
	next := 2
	for i := range unit {
		next += 2 + int(numInfos(&f.Units[i]))
	}
	return next, next + 1
}

func numInfos(u *naive.Unit) uint32 {
	n := uint32(0)
	for i := range u.Symbols {
		if u.Symbols[i].HasInfo {
			n++
		}
	}
	return n
}

// encodeSummary encodes a summary section (RFC 4.4).
func encodeSummary(e *Enc, s *naive.Summary) {
	e.U64(s.TotalCount)
	e.U64(s.MaxCount)
	e.U64(s.MaxFnCount)
	e.U64(s.NumCounts)
	e.U64(s.NumFunctions)
	e.U64(uint64(len(s.Entries)))
	for _, d := range s.Entries {
		e.U32(d.Cutoff)
		e.U64(d.MinCount)
		e.U64(d.NumCounts)
	}
}

// encodeFileName encodes an entry of a file names section (RFC 4.5).
func encodeFileName(e *Enc, u *naive.Unit) {
	e.U32(uint32(len(u.Path)) + 1)
	e.String(u.Path)
	e.U8(0)
	e.U32(u.StringTableSection)
	e.U32(u.SymbolNamesSection)
	e.U32(u.Start)
	e.U32(u.End)
}

// encodeRow encodes a row of a symbol names section (RFC 4.6): the string index of a symbol's name,
// the symbol's ID, and the index of the section with its samples.
func encodeRow(e *Enc, s *naive.Symbol) {
	e.U32(s.StringIndex)
	e.U32(s.ID)
	e.U32(s.InfoSection)
}

// encodeStringTable encodes a string table section as a path-compressed trie (RFC 4.3). A name that
// occurs twice has two terminals below empty labels.
func encodeStringTable(e *Enc, names []string) {
	e.U32(uint32(len(names)))
	var ends []end
	for i, name := range names {
		ends = append(ends, end{name, uint32(i)})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return strings.Compare(a.rest, b.rest) })
	(&trie{e: e, shape: plainShape}).node(ends)
}

// recordsOf converts locations of package naive to records that can be encoded.
func recordsOf(ls []naive.Location) (records []record) {
	for _, l := range ls {
		records = append(records, record{loc: l, hasDisc: l.Disc != 0, body: recordsOf(l.Locations)})
	}
	return records
}

// encodeHead encodes what all location records begin with: type, line and discriminator (RFC
// 4.8.1).
func encodeHead(e *Enc, typ uint8, line, disc uint32, hasDisc bool) {
	e.U8(bitmask(typ, hasDisc))
	e.U24(line)
	if hasDisc {
		e.U16(uint16(disc))
	}
}

// encodeRest encodes what a location record has after its header, for example a count (RFC 4.8.2).
// It does not encode the body of an inlined function.
func encodeRest(e *Enc, l *naive.Location) {
	switch l.Type {
	case naive.Normal:
		e.U32(uint32(l.Count))
	case naive.Wide:
		e.U64(l.Count)
	case naive.CalledFn:
		e.U32(l.Targets[0].Callee)
		e.U64(l.Targets[0].Count)
	case naive.CalledFns:
		e.U32(uint32(len(l.Targets)))
		for _, t := range l.Targets {
			e.U32(t.Callee)
			e.U64(t.Count)
		}
	case naive.InlinedFn:
		e.U32(l.Callee)
	}
}

// Count returns the record of a count, in the smallest type that can hold it (format note 15).
func Count(line, disc uint32, count uint64) naive.Location {
	l := naive.Location{Type: naive.Normal, Line: line, Disc: disc, Count: count}
	switch {
	case count == 0:
		l.Type = naive.Zero
	case count > 0xFFFFFFFF:
		l.Type = naive.Wide
	}
	return l
}

// Inlined returns the record of an inlined function: where it is inlined, which function it is, and
// the records of its body.
func Inlined(line, disc, callee uint32, body ...naive.Location) naive.Location {
	return naive.Location{
		Type: naive.InlinedFn, Line: line, Disc: disc, Callee: callee,
		NumLocations: uint32(len(body)), Locations: body,
	}
}

// An Enc appends the fields of the header or of a section to Buf (RFC 4.9). In compact mode,
// integers of more than one byte are varints.
type Enc struct {
	Buf     []byte
	Compact bool

	// Stretch, if not nil, returns the minimum length of the next varint, up to ten bytes. Overlong
	// varints are legal to read (format note 5).
	Stretch func() int
}

// U8 appends a one-byte field, which is the same in both modes.
func (e *Enc) U8(v uint8) { e.Buf = append(e.Buf, v) }

// U16 appends a field of two bytes.
func (e *Enc) U16(v uint16) { e.uint(uint64(v), 2) }

// U24 appends a field of three bytes. It panics in normal mode if v needs more.
func (e *Enc) U24(v uint32) { e.uint(uint64(v), 3) }

// U32 appends a field of four bytes.
func (e *Enc) U32(v uint32) { e.uint(uint64(v), 4) }

// U56 appends a field of seven bytes. It panics in normal mode if v needs more.
func (e *Enc) U56(v uint64) { e.uint(v, 7) }

// U64 appends a field of eight bytes.
func (e *Enc) U64(v uint64) { e.uint(v, 8) }

// Bytes appends bytes to the encoded data, unchanged.
func (e *Enc) Bytes(b []byte) { e.Buf = append(e.Buf, b...) }

// String appends the bytes of a string to the encoded data, unchanged.
func (e *Enc) String(s string) { e.Buf = append(e.Buf, s...) }

// Varint appends a varint of at least n bytes in either mode, regardless of the field's width. A
// varint of more than ten bytes is malformed.
func (e *Enc) Varint(v uint64, n int) {
	for i := 1; v >= 0x80 || i < n; i++ {
		e.Buf = append(e.Buf, byte(v)|0x80)
		v >>= 7
	}
	e.Buf = append(e.Buf, byte(v))
}

func (e *Enc) uint(v uint64, width int) {
	if e.Compact {
		n := 0
		if e.Stretch != nil {
			n = min(e.Stretch(), 10)
		}
		e.Varint(v, n)
		return
	}
	if width < 8 && v>>(8*width) != 0 {
		panic("gen: value does not fit its field")
	}
	for i := width - 1; i >= 0; i-- {
		e.Buf = append(e.Buf, byte(v>>(8*i)))
	}
}

// Values in the segments of RawMemory: their addresses, and the build ID of their binary.
const (
	memoryBase    = 0x400000
	memorySegment = 1 << 20
	memoryBuildID = 0x04030201
	memoryBlock   = 132 // bytes of the fields of version 3, all of which are 0
)

// RawMemory returns a raw memory profile of version 3 with the given numbers of blocks, addresses
// per stack, segments, and copies of each segment. Each stack has one address that no other stack
// has. Addresses start at 0x1000 in the binary, whose build ID is 01020304.
func RawMemory(blocks, addresses, segments, times int) []byte {
	p := appendWords([]byte("\x81rforpm\xff"), 3, 0, 0, 0, 0)
	patch := func(i int) { binary.LittleEndian.PutUint64(p[8*i:], uint64(len(p))) }
	patch(3)
	p = appendWords(p, uint64(segments*times))
	for range times {
		for i := range uint64(segments) {
			start := memoryBase + i*memorySegment
			p = appendWords(p, start, start+memorySegment, memoryBase, 4, memoryBuildID, 0, 0, 0)
		}
	}
	patch(4)
	p = appendWords(p, uint64(blocks))
	for i := range uint64(blocks) {
		p = append(appendWords(p, i), make([]byte, memoryBlock)...)
	}
	patch(5)
	p = appendWords(p, uint64(blocks))
	for i := range uint64(blocks) {
		p = appendWords(p, i, uint64(addresses), memoryBase+0x1000+i)
		for k := range uint64(addresses) - 1 {
			p = appendWords(p, memoryBase+0x1000+uint64(blocks)+k)
		}
	}
	patch(2)
	return p
}

// The magic number of raw instrumentation profiles with 64-bit pointers, and the hash of the name
// "f".
const (
	rawMagic = 0xff6c70726f667281
	hashOfF  = 0xcc914f75dd4ca18f
)

// SharedCounters returns a raw instrumentation profile of version 8 whose functions are all named f
// and share their counters. There are as many counters as the given number of words or, with
// single-byte counters, eight times as many.
func SharedCounters(functions, words int, flags uint64) []byte {
	n := uint64(words)
	if flags != 0 {
		n *= 8
	}
	p := appendWords(nil, rawMagic, 8|flags, 0, uint64(functions), 0, n, 0, 3, 0, 0, 1)
	const record = uint64(48)
	for i := range uint64(functions) {
		p = appendWords(p, hashOfF, i+1, -(record * i), 0, 0, n)
	}
	for range words {
		p = appendWords(p, 1)
	}
	return appendWords(p, 1|'f'<<16)
}

// SharedBitmap returns a raw instrumentation profile of version 9 whose functions are all named f
// and share a bitmap. Its size in bytes must be a multiple of 8.
func SharedBitmap(functions, size int) []byte {
	p := appendWords(nil, rawMagic, 9, 0, uint64(functions), 0, 1, 0, uint64(size), 0, 3, 0, 0, 0, 1)
	const record = uint64(64)
	for i := range uint64(functions) {
		p = appendWords(p, hashOfF, i+1, -(record * i), -(record * i), 0, 0, 1, uint64(size))
	}
	p = append(appendWords(p, 1), make([]byte, size)...)
	return appendWords(p, 1|'f'<<16)
}

func appendWords(p []byte, words ...uint64) []byte {
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

// HostilePath is the path of the first unit in the files of [Nested], [TrieChain] and [HugeNames].
// Its symbol IDs start at 0. A unit for unknown files follows it.
const HostilePath = "hostile.c"

// hostile returns a legal file with one symbol, "f", without locations. Callers modify it.
func hostile() *naive.File {
	f := naive.Symbol{ID: 0, Name: "f", HasInfo: true, Head: 1}
	return &naive.File{Units: []naive.Unit{
		{Path: HostilePath, Start: 0, End: 1, Symbols: []naive.Symbol{f}},
		{Start: 1, End: 1},
	}}
}

// Nested returns a legal file whose only symbol, "f", has n nested inlined bodies. Each is the only
// record of its enclosing body, at line 1. The innermost body has a count of 7 at line 2.
func Nested(n int, compact bool) []byte {
	l := Lay(hostile(), compact)
	e := &Enc{Compact: compact}
	e.U64(1)
	e.U64(0)
	for range n {
		e.U32(1)
		encodeHead(e, naive.InlinedFn, 1, 0, false)
		e.U32(0)
	}
	encodeRecords(e, []record{{loc: Count(2, 0, 7)}})
	l.Sections[infoOfHostile].Data = e.Buf
	return l.Bytes()
}

// Indexes of the string table and of the symbol info in the sections that hostile returns.
const (
	stringsOfHostile = 2
	infoOfHostile    = 4
)

// TrieChain returns a file whose trie is a chain of n nodes below the root, each with the label "x"
// and with a single terminal at the end. So the name of its only symbol is "x" repeated n times.
// This is legal to read (format note 11).
func TrieChain(n int, compact bool) []byte {
	l := Lay(hostile(), compact)
	e := &Enc{Compact: compact}
	e.U32(1)
	for range n {
		e.U8(1)
		e.U16(1)
		e.String("x")
	}
	e.U8(0x80)
	e.U32(0)
	l.Sections[stringsOfHostile].Data = e.Buf
	return l.Bytes()
}

// HugeNames returns a legal file with n symbols without samples. Their names share a prefix of the
// given number of "x", which the trie stores once, followed by the symbol's ID as four hexadecimal
// digits. So about 20 bytes per symbol expand to names of prefix+4 bytes. n is at most 65536.
func HugeNames(prefix, n int, compact bool) []byte {
	f := hostile()
	f.Units[0].Symbols = nil
	for i := range n {
		f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: uint32(i), Name: fmt.Sprintf("%04x", i)})
	}
	f.Units[0].End = uint32(n)
	f.Units[1].Start, f.Units[1].End = uint32(n), uint32(n)
	l := Lay(f, compact)

	names := &Enc{Compact: compact}
	var ends []end
	for i := range f.Units[0].Symbols {
		ends = append(ends, end{f.Units[0].Symbols[i].Name, uint32(i)})
	}
	names.U32(uint32(n))
	for prefix > 0 {
		length := min(prefix, maxLabel)
		names.U8(1)
		names.U16(uint16(length))
		names.String(strings.Repeat("x", length))
		prefix -= length
	}
	(&trie{e: names, shape: plainShape}).node(ends)
	l.Sections[stringsOfHostile].Data = names.Buf
	return l.Bytes()
}

// Damage returns a copy of a file with random damage: a flipped bit, a changed byte, or a part that
// is removed, duplicated or overwritten. The bytes before from do not change.
func Damage(r *rand.Rand, data []byte, from int) []byte {
	out := append([]byte(nil), data...)
	at := from + r.IntN(len(out)-from)
	switch r.IntN(5) {
	case 0:
		out[at] ^= 1 << r.IntN(8)
	case 1:
		out[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[r.IntN(5)]
	case 2:
		out = append(out[:at], out[min(len(out), at+1+r.IntN(4)):]...)
	case 3:
		out = append(out[:at:at], data[max(0, at-1-r.IntN(4)):]...)
	case 4:
		source := from + r.IntN(len(data)-from)
		copy(out[at:], data[source:min(len(data), source+1+r.IntN(8))])
	}
	return out
}

// OfHash returns a string of eight bytes whose xxhash is h.
func OfHash(h uint64) string {
	const p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
	h ^= h >> 32
	h *= inverse(p3)
	h ^= h>>29 ^ h>>58
	h *= inverse(p2)
	h ^= h >> 33
	h -= p4
	h *= inverse(p1)
	h = bits.RotateLeft64(h, -27)
	var seed uint64 = p5
	h ^= seed + 8
	h *= inverse(p1)
	h = bits.RotateLeft64(h, -31)
	h *= inverse(p2)
	return string(binary.LittleEndian.AppendUint64(nil, h))
}

// inverse returns the multiplicative inverse of an odd number modulo 2^64.
func inverse(x uint64) uint64 {
	y := x
	for range 6 {
		y *= 2 - x*y
	}
	return y
}

// Comb returns the data of a string table with n+1 strings. Each is a common prefix of "x", then 0
// to n letters "b", and an "a" in all but the last.
func Comb(prefix int, n uint32) func(e *Enc) {
	return func(e *Enc) {
		e.U32(n + 1)
		e.U8(1)
		e.U16(uint16(prefix))
		e.String(strings.Repeat("x", prefix))
		for i := range n {
			e.U8(2)
			Leaf(e, "a", i)
			e.U16(1)
			e.String("b")
		}
		e.U8(0x80)
		e.U32(n)
	}
}

// Leaf writes a leaf of a trie: an edge with a label, and a node at which the string with the index
// id ends.
func Leaf(e *Enc, label string, id uint32) {
	e.U16(uint16(len(label)))
	e.String(label)
	e.U8(0x80)
	e.U32(id)
}

// BigPath returns the path of a unit in [Big].
func BigPath(unit int) string {
	return fmt.Sprintf("src/lib%d/module%d/file%d.cpp", unit%17, unit%251, unit)
}

// BigName returns the name of a symbol in [Big].
func BigName(unit, symbol int) string {
	return fmt.Sprintf("_ZN4proj7module%d5Class8method%dEv", unit, symbol)
}

// BigSymbols is the number of symbols in each unit of [Big].
const BigSymbols = 4

// Big returns the bytes of a valid version 4 file with many units. The last one is the unit for
// functions of unknown files, and has no symbols. Each other unit has BigSymbols symbols, with
// IDs from BigSymbols*unit+1; all except the last have samples. The sections of a unit are
// adjacent. The summary is correct.
func Big(units int, compact bool) []byte {
	return Encode(big(units), compact)
}

func big(units int) *naive.File {
	f := &naive.File{}
	for i := range units {
		u := naive.Unit{Path: BigPath(i), Start: bigID(i, 0), End: bigID(i+1, 0)}
		for j := range BigSymbols {
			s := naive.Symbol{ID: bigID(i, j), Name: BigName(i, j)}
			if j < BigSymbols-1 {
				s.HasInfo = true
				s.Head = uint64(i + j)
				s.Locations = bigBody(i, j)
			}
			u.Symbols = append(u.Symbols, s)
		}
		f.Units = append(f.Units, u)
	}
	end := bigID(units, 0)
	f.Units = append(f.Units, naive.Unit{Start: end, End: end})
	f.Summary = f.Summarize()
	return f
}

func bigID(unit, symbol int) uint32 { return uint32(BigSymbols*unit + symbol + 1) }

func bigBody(i, j int) []naive.Location {
	n := uint64(i*7 + j)
	callee := bigID(i, (j+1)%BigSymbols)
	return []naive.Location{
		Count(0, 0, 0),
		Count(1, 0, n),
		Count(2, uint32(i%5), n*1000),
		{Type: naive.CalledFn, Line: 3, Targets: []naive.Target{{Callee: callee, Count: n}}},
		Inlined(4, 2, bigID(i, BigSymbols-1), Count(0, 0, n), Count(9, 1, n+1)),
		Count(200, 0, n<<33),
	}
}
