package sampleprof

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/symname"
)

// A Name identifies a function, a callee or the type of a vtable: the linkage name, or its MD5.
type Name struct {
	Text   string // empty if Hashed
	MD5    uint64 // GUID of the name, if Hashed; otherwise 0
	Hashed bool   // only the MD5 of the name is known
}

// GUID returns the GUID of the name, by which LLVM identifies a function: the first 8 bytes of the
// name's MD5, in little-endian order. Unless the name is hashed, this takes about 150 ns.
func (n Name) GUID() uint64 {
	if n.Hashed {
		return n.MD5
	}
	return symname.GUID(n.Text)
}

// String returns the name, or its MD5 in decimal, as in LLVM's text form.
func (n Name) String() string {
	if n.Hashed {
		return strconv.FormatUint(n.MD5, 10)
	}
	return n.Text
}

// compare compares two names in LLVM's order: MD5s come first, by value, and then names, by their
// bytes.
func (n Name) compare(m Name) int {
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

// A NameRef is the index of a [Name] in one [Reader] or [Profile]. Equal names have equal indexes.
type NameRef uint32
