package gen

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

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
	encodeLocations(e, []naive.Location{Count(2, 0, 7)})
	l.Sections[infoOfHostile].Data = e.Buf
	return l.Bytes()
}

// Section indexes in the result of hostile.
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

// Big returns a legal file with many units, followed by a unit for unknown files without symbols.
// Each unit has BigSymbols symbols, with IDs from BigSymbols*unit+1; all except the last have
// samples. The sections of a unit are adjacent. The summary is correct.
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
