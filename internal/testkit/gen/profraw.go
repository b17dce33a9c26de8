package gen

import "encoding/binary"

// What raw instrumentation profiles of 64 bits begin with, and the hash of the name "f".
const (
	rawMagic = 0xff6c70726f667281
	hashOfF  = 0xcc914f75dd4ca18f
)

// SharedCounters returns a raw instrumentation profile of version 8, whose functions are all called
// f and have the same counters: so many words of them, and as many counters or, with the flag of
// single bytes, eight times as many.
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

// SharedBitmap returns a raw instrumentation profile of version 9, whose functions are all called f
// and have the same bitmap of so many bytes, a multiple of 8.
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
