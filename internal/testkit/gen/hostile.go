package gen

import (
	"fmt"
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
