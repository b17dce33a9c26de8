package gen

import "encoding/binary"

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
