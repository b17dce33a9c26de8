// Package gen generates version 4 files for tests: random legal files of every shape with their
// meaning ([Random]), given files ([Encode], [Lay]), large and hostile files ([Big], [Nested],
// [TrieChain], [HugeNames]), and parts for creating malformed files by hand ([Enc], [Layout]). It
// has its own encoder, written from the RFC. It imports only package naive, whose types describe
// the meaning of a file.
package gen

import "encoding/binary"

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

// Bytes appends bytes unchanged.
func (e *Enc) Bytes(b []byte) { e.Buf = append(e.Buf, b...) }

// String appends bytes unchanged.
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
