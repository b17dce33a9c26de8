// Package naive is a second, slow and simple implementation of the formats, against which tests
// check the rest of the module. It is written from the RFC and imports nothing of the module, so
// that the two do not share mistakes. It reads whole files into slices and maps, recurses where the
// format does, and is never linked into a program.
package naive

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
)

// Decode decodes a whole version 4 file. It rejects what the format notes call malformed, in the
// summary and in every section that can be reached from the file names section.
//
// Decode accepts what neither the RFC nor the notes clearly forbid: bytes between and after
// sections and after a section's data, unreferenced and shared sections, two units with the same
// path, two symbols with the same name, a string that occurs twice in a trie, leaves in a trie that
// are not terminals, and callees that do not exist.
func Decode(data []byte) (f *File, err error) {
	defer catch(&err)
	d := &decoder{
		data:    data,
		file:    &File{},
		strings: map[uint32][]string{},
		infos:   map[uint32]Symbol{},
	}
	summary, fileNames := d.header()
	d.summary(summary)
	d.units(fileNames)
	return d.file, nil
}

type decoder struct {
	data    []byte
	file    *File
	strings map[uint32][]string // by section index
	infos   map[uint32]Symbol   // by section index; only the fields of the symbol info are set
	names   int                 // total length of all strings
}

// header reads the header and the section table (RFC 4.1). It returns the indexes of the two fixed
// sections.
func (d *decoder) header() (summary, fileNames uint32) {
	c := &cursor{data: d.data, end: len(d.data), section: -1}
	if string(c.bytes(4)) != "gcov" {
		c.fail("wrong magic")
	}
	d.file.Version = c.uint32()
	if d.file.Version != 4 {
		c.fail("version %d", d.file.Version)
	}
	c.compact = c.byte()&0x80 != 0
	d.file.Compact = c.compact
	n := c.uint(7)

	type entry struct{ offset, size, number uint64 }
	var entries []entry
	for number := range 2 + n { // 0 is the summary, 1 the file names section
		entries = append(entries, entry{c.uint(8), c.uint(8), number})
	}

	// Format note 1: check bounds, then order, then overlap.
	for _, e := range entries {
		if e.size == 0 {
			c.fail("section with size 0 at offset %d", e.offset)
		}
		if e.offset < uint64(c.pos) {
			c.fail("section at offset %d starts inside the header", e.offset)
		}
		if e.offset > uint64(len(d.data)) || e.size > uint64(len(d.data))-e.offset {
			c.fail("section at offset %d reaches past the end of the file", e.offset)
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].offset < entries[j].offset })
	for i, e := range entries {
		if i > 0 && entries[i-1].offset+entries[i-1].size > e.offset {
			c.fail("sections at offsets %d and %d overlap", entries[i-1].offset, e.offset)
		}
		switch e.number {
		case 0:
			summary = uint32(i)
		case 1:
			fileNames = uint32(i)
		}
		bitmask := d.data[e.offset]
		d.file.Sections = append(d.file.Sections, Section{
			Type:    bitmask & 0x7f,
			Compact: bitmask&0x80 != 0,
			Offset:  int64(e.offset),
			Size:    int64(e.size),
		})
	}
	return summary, fileNames
}

// open begins to read a section, and returns a cursor for its data. The section must have the type
// want. from is the cursor that has just read the section's index, and is named in errors. It is
// nil for sections to which the header refers.
func (d *decoder) open(from *cursor, index uint32, want uint8) *cursor {
	if from == nil {
		from = &cursor{section: -1}
	}
	if uint64(index) >= uint64(len(d.file.Sections)) {
		from.fail("section index %d of %d", index, len(d.file.Sections))
	}
	s := d.file.Sections[index]
	if s.Type != want {
		from.fail("section %d has type %d, not %d", index, s.Type, want)
	}
	return &cursor{
		data:    d.data,
		pos:     int(s.Offset) + 1,
		end:     int(s.Offset + s.Size),
		section: int(index),
		compact: s.Compact,
	}
}

// close ends the reading of a section: it stores how many bytes of the section the cursor has not
// read.
func (d *decoder) close(c *cursor) {
	d.file.Sections[c.section].Trailing = int64(c.end - c.pos)
}

func (d *decoder) summary(index uint32) {
	c := d.open(nil, index, SummaryInfo)
	d.file.Summary = readSummary(c.uint32, c.uint64)
	d.close(c)
}

// readSummary reads the summary of a file of any version. word and counter read a field of 32 and
// of 64 bits.
func readSummary(word func() uint32, counter func() uint64) Summary {
	s := Summary{TotalCount: counter(), MaxCount: counter(), MaxFnCount: counter(), NumCounts: counter(), NumFunctions: counter()}
	for range counter() {
		s.Entries = append(s.Entries, Entry{Cutoff: word(), MinCount: counter(), NumCounts: counter()})
	}
	return s
}

func (d *decoder) units(index uint32) {
	c := d.open(nil, index, FileNames)
	for range c.uint32() {
		u := Unit{Path: path(c), StringTableSection: c.uint32(), SymbolNamesSection: c.uint32(), Start: c.uint32(), End: c.uint32()}
		if u.Start > u.End {
			c.fail("unit %q has symbol IDs from %d to %d", u.Path, u.Start, u.End)
		}
		for i := range d.file.Units { // format note 9
			other := &d.file.Units[i]
			if max(u.Start, other.Start) < min(u.End, other.End) {
				c.fail("units %q and %q have symbol IDs in common", other.Path, u.Path)
			}
		}
		u.Strings = d.stringTable(c, u.StringTableSection)
		d.symbols(c, &u)
		d.file.Units = append(d.file.Units, u)
	}
	d.close(c)
}

// path reads a length and a path, which must end with its only NUL (format note 8).
func path(c *cursor) string {
	n := c.uint32()
	b := c.bytes(uint64(n))
	if bytes.IndexByte(b, 0) != len(b)-1 || n == 0 {
		c.fail("file name does not have its one NUL at its end")
	}
	return string(b[:len(b)-1])
}

// stringTable decodes a string table section (RFC 4.3).
func (d *decoder) stringTable(from *cursor, index uint32) []string {
	if strings, ok := d.strings[index]; ok {
		return strings
	}
	c := d.open(from, index, StringTable)
	n := c.uint32()
	byID := map[uint32]string{}
	d.trieNode(c, n, nil, byID, 0)
	if uint64(len(byID)) != uint64(n) {
		c.fail("%d terminals for %d strings", len(byID), n)
	}
	var strings []string
	spelled := map[string]bool{}
	for id := range n {
		if spelled[byID[id]] {
			c.fail("string %q twice", byID[id])
		}
		spelled[byID[id]] = true
		strings = append(strings, byID[id])
	}
	d.strings[index] = strings
	d.close(c)
	return strings
}

func (d *decoder) trieNode(c *cursor, n uint32, name []byte, byID map[uint32]string, depth int) {
	if depth > MaxDepth {
		c.limit("trie is deeper than %d nodes", MaxDepth)
	}
	bitmask := c.byte()
	if bitmask&0x80 != 0 {
		id := c.uint32()
		if id >= n {
			c.fail("terminal ID %d of %d", id, n)
		}
		if _, ok := byID[id]; ok {
			c.fail("terminal ID %d twice", id)
		}
		if d.names += len(name); d.names > MaxNames {
			c.limit("strings have more than %d bytes", MaxNames)
		}
		byID[id] = string(name)
	}
	for range bitmask & 0x7f {
		label := c.bytes(uint64(c.uint16()))
		// Siblings overwrite each other's label, but only after it has been used.
		d.trieNode(c, n, append(name, label...), byID, depth+1)
	}
}

// symbols decodes the symbol names section of a unit (RFC 4.6), and then the samples of each symbol
// that has some.
func (d *decoder) symbols(from *cursor, u *Unit) {
	c := d.open(from, u.SymbolNamesSection, SymbolNames)
	seen := map[uint32]bool{} // of this unit; ranges of different units do not overlap
	named := map[uint32]bool{}
	for range c.uint32() {
		stringIndex, id, info := c.uint32(), c.uint32(), c.uint32()
		if uint64(stringIndex) >= uint64(len(u.Strings)) {
			c.fail("string index %d of %d", stringIndex, len(u.Strings))
		}
		if id < u.Start || id >= u.End {
			c.fail("symbol ID %d is not in [%d, %d)", id, u.Start, u.End)
		}
		if named[stringIndex] {
			c.fail("two symbols of string %d", stringIndex)
		}
		named[stringIndex] = true
		if seen[id] {
			c.fail("symbol ID %d twice", id)
		}
		seen[id] = true
		s := Symbol{}
		if info != NoInfo {
			s = d.symbolInfo(c, info)
		}
		s.ID = id
		s.Name = u.Strings[stringIndex]
		s.StringIndex = stringIndex
		s.InfoSection = info
		u.Symbols = append(u.Symbols, s)
	}
	d.close(c)
}

// symbolInfo decodes a symbol info section (RFC 4.7).
func (d *decoder) symbolInfo(from *cursor, index uint32) Symbol {
	if s, ok := d.infos[index]; ok {
		return s
	}
	c := d.open(from, index, SymbolInfo)
	s := Symbol{HasInfo: true, Head: c.uint64(), Timestamp: c.uint64(), NumLocations: c.uint32()}
	s.Locations = locations(c, s.NumLocations, &s.Skipped, 0)
	d.infos[index] = s
	d.close(c)
	return s
}

// locations decodes n location records (RFC 4.8). It counts records of unknown type in skipped.
func locations(c *cursor, n uint32, skipped *int, depth int) []Location {
	if depth > MaxDepth {
		c.limit("bodies nest deeper than %d", MaxDepth)
	}
	var ls []Location
	for range n {
		bitmask := c.byte()
		l := Location{Type: bitmask & 0x7f, Line: c.uint24()}
		if bitmask&0x80 != 0 {
			l.Disc = uint32(c.uint16())
		}
		switch l.Type {
		case Zero:
		case Normal:
			l.Count = uint64(c.uint32())
		case Wide:
			l.Count = c.uint64()
		case CalledFn:
			l.Targets = targets(c, 1)
		case CalledFns:
			l.Targets = targets(c, c.uint32())
		case InlinedFn:
			l.Callee = c.uint32()
			l.NumLocations = c.uint32()
			l.Locations = locations(c, l.NumLocations, skipped, depth+1)
		default:
			c.bytes(uint64(c.uint32()))
			*skipped++
			continue
		}
		ls = append(ls, l)
	}
	return ls
}

func targets(c *cursor, n uint32) []Target {
	var ts []Target
	for range n {
		ts = append(ts, Target{Callee: c.uint32(), Count: c.uint64()})
	}
	return ts
}

// A cursor reads the fields of the header or of a section. If a field cannot be read, it panics
// with an *Error, which catch converts to a returned error.
type cursor struct {
	data    []byte // the whole file
	pos     int
	end     int
	section int
	compact bool
}

func (c *cursor) fail(format string, args ...any) {
	panic(&Error{Kind: ErrMalformed, Section: c.section, Offset: int64(c.pos), Text: fmt.Sprintf(format, args...)})
}

func (c *cursor) limit(format string, args ...any) {
	panic(&Error{Kind: ErrLimit, Section: c.section, Offset: int64(c.pos), Text: fmt.Sprintf(format, args...)})
}

// catch is deferred by the exported functions of the package.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

// bytes returns the next n bytes of the section.
func (c *cursor) bytes(n uint64) []byte {
	if left := uint64(c.end - c.pos); n > left {
		c.fail("%d bytes wanted, %d left", n, left)
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// byte reads a one-byte field, which is the same in both modes.
func (c *cursor) byte() uint8 { return c.bytes(1)[0] }

func (c *cursor) uint16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) uint24() uint32 { return uint32(c.uint(3)) }
func (c *cursor) uint32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) uint64() uint64 { return c.uint(8) }

// uint reads an integer that takes width bytes in normal mode.
func (c *cursor) uint(width int) uint64 {
	if c.compact {
		return c.varint(width)
	}
	var v uint64
	for _, b := range c.bytes(uint64(width)) {
		v = v<<8 | uint64(b)
	}
	return v
}

// varint reads a varint of at most ten bytes whose value must fit in width bytes (format note 5).
func (c *cursor) varint(width int) uint64 {
	var v uint64
	for i := range 10 {
		b := c.byte()
		if i == 9 && b > 1 {
			c.fail("varint is longer than ten bytes or 64 bits")
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			break
		}
	}
	if width < 8 && v>>(8*width) != 0 {
		c.fail("varint %d does not fit %d bytes", v, width)
	}
	return v
}

// Section types (RFC 4.2).
const (
	StringTable = 0x01
	SummaryInfo = 0x02
	FileNames   = 0x03
	SymbolNames = 0x04
	SymbolInfo  = 0x05
)

// Location types (RFC 4.8.2).
const (
	Zero      = 0x01
	Normal    = 0x02
	Wide      = 0x03
	CalledFn  = 0x04
	CalledFns = 0x05
	InlinedFn = 0x06
)

// NoInfo is the SYMBOL_INFO_SECTION_INDEX of a symbol without info (RFC 4.6).
const NoInfo = 0xFFFFFFFF

// A File is the whole contents of a version 4 file. Slices without elements are nil, so that files
// can be compared with reflect.DeepEqual.
type File struct {
	Version  uint32
	Compact  bool      // the header's flag
	Sections []Section // by section index, which means ascending offsets (format note 1)
	Summary  Summary
	Units    []Unit // in the order of the file names section
}

// A Section is an entry of the section table of a version 4 file.
type Section struct {
	Type    uint8 // any value below 0x80, including unknown types
	Compact bool
	Offset  int64
	Size    int64

	// Trailing is the number of bytes after the section's data (format note 7). It is 0 for
	// unreferenced sections and unknown types.
	Trailing int64
}

// A Summary is the summary section (RFC 4.4).
type Summary struct {
	TotalCount, MaxCount, MaxFnCount, NumCounts, NumFunctions uint64

	Entries []Entry
}

// An Entry is a detailed entry of the summary.
type Entry struct {
	Cutoff              uint32
	MinCount, NumCounts uint64
}

// A Unit is an entry of the file names section (RFC 4.5) with its two sections.
type Unit struct {
	Path               string // without the terminating NUL
	StringTableSection uint32
	SymbolNamesSection uint32
	Start, End         uint32
	Strings            []string // by string index, including unused strings
	Symbols            []Symbol // in the order of the rows
}

// A Symbol is a row of a symbol names section (RFC 4.6), together with the samples of the symbol
// from its symbol info section (RFC 4.7).
type Symbol struct {
	ID          uint32
	Name        string
	StringIndex uint32
	InfoSection uint32 // NoInfo if there is none

	HasInfo         bool
	Head, Timestamp uint64
	NumLocations    uint32 // as stored, including records of unknown type
	Locations       []Location
	Skipped         int // records of unknown type, at any depth (format note 16)
}

// A Location is a location record of one of the types that the RFC defines (RFC 4.8): a count,
// calls or an inlined function at a source line.
type Location struct {
	Type         uint8
	Line, Disc   uint32
	Count        uint64     // Normal and Wide
	Callee       uint32     // InlinedFn: the inlined symbol
	Targets      []Target   // CalledFn, which has one, and CalledFns
	NumLocations uint32     // InlinedFn, as stored, including records of unknown type
	Locations    []Location // InlinedFn
}

// A Target is a call target: a function that a location calls, and how often.
type Target struct {
	Callee uint32
	Count  uint64
}

// [Decode] and [DecodeV3] return an *[Error] that wraps one of these.
var (
	// ErrMalformed means that the file violates the format.
	ErrMalformed = errors.New("malformed")
	// ErrLimit means that the file may be valid, but exceeds a limit of this package: MaxDepth or
	// MaxNames.
	ErrLimit = errors.New("over the limit")
)

const (
	// MaxDepth is the maximum depth of bodies and tries.
	MaxDepth = 10_000
	// MaxNames is the maximum total length of the strings in all string tables, in bytes.
	MaxNames = 1 << 28
)

// An Error describes where decoding stopped.
type Error struct {
	Kind    error // ErrMalformed or ErrLimit
	Section int   // section index; -1 for the header, and for all of versions 2 and 3
	Offset  int64 // in the file
	Text    string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: section %d, offset %d: %s", e.Kind, e.Section, e.Offset, e.Text)
}

// Unwrap returns the kind of the error, such as [ErrMalformed].
func (e *Error) Unwrap() error { return e.Kind }
