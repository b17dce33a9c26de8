package gcov

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/profile"
)

const (
	wordSize    = 4
	counterSize = 8
)

// A decoder reads the fields of a file.
type decoder struct {
	decode.Buffer
	version uint32

	p    *profile.Profile
	refs []profile.SymbolRef // symbols by name index

	open stack.Stack[openBody]
}

// newDecoder returns a decoder of a file, positioned after its header. h is the decoded header.
func newDecoder(data []byte, h Header) *decoder {
	b := decode.Buffer{Data: data, Pos: headerSize, Big: h.ByteOrder == binary.BigEndian}
	return &decoder{Buffer: b, version: h.Version, p: profile.New()}
}

// err returns the first error that occurred in decoding, or nil.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error { return faultAt(int64(f.Pos), f.Class, "%s", f.Detail) })
}

// wordAt returns the word at pos, which must be within the data.
func (d *decoder) wordAt(pos int) uint32 {
	v := binary.LittleEndian.Uint32(d.Data[pos:])
	if d.Big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// counterAt returns the counter at pos, which must be within the data.
func (d *decoder) counterAt(pos int) uint64 {
	v := binary.LittleEndian.Uint64(d.Data[pos:])
	if d.Big {
		v = uint64(bits.ReverseBytes32(uint32(v))) | uint64(bits.ReverseBytes32(uint32(v>>32)))<<32
	}
	return v
}

func (d *decoder) counter(what string) uint64 {
	if !d.Has(counterSize, what) {
		return 0
	}
	d.Pos += counterSize
	return d.counterAt(d.Pos - counterSize)
}

// words reads a number of entries, and checks that this many entries of the given size fit into the
// remaining bytes. what names the entries in errors.
func (d *decoder) words(size int, what string) int {
	pos := d.Pos
	return d.Count(pos, uint64(d.Uint32(what)), size, what)
}

// str reads a string. It returns where the string begins and ends in the data, without the NUL.
// what names it in errors.
func (d *decoder) str(what string) (start, end int) {
	pos := d.Pos
	n := d.Uint32(what)
	if uint64(n) > uint64(d.Rest()) {
		d.Fail(pos, fault.ErrTruncated, "%s needs %d bytes, %d are left", what, n, d.Rest())
	}
	if d.Err != nil {
		return 0, 0
	}
	start = d.Pos
	d.Pos += int(n)
	if nul := bytes.IndexByte(d.Data[start:d.Pos], 0); nul < 0 || nul != int(n)-1 {
		d.Fail(pos, fault.ErrName, "%s of %d bytes does not end with its only NUL", what, n)
		return 0, 0
	}
	return start, d.Pos - 1
}

// tag reads a tag, and records an error if it is not the given one. what names the section in the
// error.
func (d *decoder) tag(tag uint32, what string) {
	pos := d.Pos
	if found := d.Uint32("the tag of " + what); d.Err == nil && found != tag {
		d.Fail(pos, errLayout, "tag %#08x, want that of %s, %#08x", found, what, tag)
	}
}

// An encoder appends the fields of a file. It keeps the first error.
type encoder struct {
	data    []byte
	big     bool
	version uint32
	err     error
	losses  Losses

	p      *profile.Profile
	byName []profile.SymbolRef // all symbols, sorted by name
	index  []profile.SymbolRef // name index by symbol
	outer  stack.Stack[int]    // ends of the bodies that enclose the current one
}

// grow allocates memory for the file in advance. It estimates the size as if every record were a
// call target, which takes the most bytes.
func (e *encoder) grow() {
	n := headerSize + workingSetEntries*workingSetEntrySize
	for f := range e.p.NumUnits() {
		n += minStringSize + len(e.p.UnitPath(profile.UnitRef(f)))
	}
	for s := range e.p.NumSymbols() {
		n += minStringSize + wordSize + len(e.p.SymbolName(profile.SymbolRef(s)))
	}
	for _, f := range e.p.Functions() {
		n += minFunctionSize + counterSize + targetSize*len(f.Records)
	}
	e.data = make([]byte, 0, n)
}

// refuse records an error about a value that the format cannot store.
func (e *encoder) refuse(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("gcov: version %d: %s: %w", e.version, fmt.Sprintf(format, args...), fault.ErrUnrepresentable)
	}
}

func (e *encoder) word(v uint32) {
	if e.big {
		v = bits.ReverseBytes32(v)
	}
	e.data = binary.LittleEndian.AppendUint32(e.data, v)
}

// put replaces the word at position pos of the file.
func (e *encoder) put(pos int, v uint32) {
	if e.big {
		v = bits.ReverseBytes32(v)
	}
	binary.LittleEndian.PutUint32(e.data[pos:], v)
}

func (e *encoder) counter(v uint64) {
	e.word(uint32(v))
	e.word(uint32(v >> 32))
}

// fit returns n as a 32-bit word. If n is too large, it records an error, in which what names the
// value.
func (e *encoder) fit(n int, what string) uint32 {
	if uint64(n) > math.MaxUint32 {
		e.refuse("%d, too large a number for %s", n, what)
	}
	return uint32(n)
}

func (e *encoder) str(s, what string) {
	if strings.IndexByte(s, 0) >= 0 {
		e.refuse("a NUL in %s %q", what, s)
	}
	e.word(e.fit(len(s)+1, what))
	e.data = append(e.data, s...)
	e.data = append(e.data, 0)
}
