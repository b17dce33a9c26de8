package sampleprof

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/guid"
)

// A Name is what a function, a callee or a type of a vtable is called: the symbol as linked, or the
// MD5 of that.
type Name struct {
	Text   string // empty if Hashed
	MD5    uint64 // 0 unless Hashed
	Hashed bool   // the profile does not know the name, only its MD5
}

// GUID returns the first 8 bytes of the MD5 of a name, little-endian, by which LLVM knows a
// function.
func GUID(name string) uint64 {
	return guid.Of(name)
}

// GUID returns the MD5 of the name. It takes some 150 ns unless the name is hashed.
func (n Name) GUID() uint64 {
	if n.Hashed {
		return n.MD5
	}
	return GUID(n.Text)
}

// String returns the name, or its MD5 in decimal, as LLVM's text has it.
func (n Name) String() string {
	if n.Hashed {
		return strconv.FormatUint(n.MD5, 10)
	}
	return n.Text
}

// Compare orders names as LLVM does: MD5s by value before names by bytes.
func (n Name) Compare(m Name) int {
	switch {
	case n.Hashed && m.Hashed:
		return cmp.Compare(n.MD5, m.MD5)
	case n.Hashed:
		return -1
	case m.Hashed:
		return 1
	}
	return strings.Compare(n.Text, m.Text)
}

// A NameRef names a [Name] of one [Reader] or [Profile]: the first is 0. Different references are
// different names.
type NameRef uint32
