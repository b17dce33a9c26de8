package gen

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

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

// Comb returns the data of a string table with n+1 strings that share a long prefix and the letters
// after it.
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

// Leaf writes an edge to a terminal without children.
func Leaf(e *Enc, label string, id uint32) {
	e.U16(uint16(len(label)))
	e.String(label)
	e.U8(0x80)
	e.U32(id)
}
