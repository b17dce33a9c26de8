package sampleprof

import (
	"cmp"
	"iter"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/arena"
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

// A nameTable holds the names of a profile without duplicates.
type nameTable struct {
	list   []Name
	byText map[string]NameRef
	byMD5  map[uint64]NameRef // all names by MD5; nil unless a hashed name has been added
	hashed int                // number of hashed names
	arena  arena.Names
}

// compare compares two names of the profile in LLVM's order. It is needed only to order several
// records of the same location.
func (t *nameTable) compare(s, u NameRef) int { return t.list[s].compare(t.list[u]) }

func (t *nameTable) add(n Name) NameRef {
	if n.Hashed {
		t.hash()
		if ref, ok := t.byMD5[n.MD5]; ok {
			return ref
		}
		t.hashed++
		return t.append(n)
	}
	if ref, ok := t.byText[n.Text]; ok {
		return ref
	}
	if t.byMD5 != nil {
		if ref, ok := t.byMD5[symname.GUID(n.Text)]; ok {
			t.byText[t.arena.Clone(n.Text)] = ref // for resolve
			return ref
		}
	}
	return t.append(Name{Text: t.arena.Clone(n.Text)})
}

// hash builds the map byMD5 if there is none. From then on, a name can be found by its MD5.
func (t *nameTable) hash() {
	if t.byMD5 != nil {
		return
	}
	if t.byText == nil {
		t.byText = map[string]NameRef{}
	}
	t.byMD5 = make(map[uint64]NameRef, len(t.list))
	for i, n := range t.list {
		t.byMD5[n.GUID()] = NameRef(i)
	}
}

func (t *nameTable) append(n Name) NameRef {
	ref := NameRef(len(t.list))
	t.list = append(t.list, n)
	if t.byMD5 != nil {
		t.byMD5[n.GUID()] = ref
	}
	if !n.Hashed {
		if t.byText == nil {
			t.byText = map[string]NameRef{}
		}
		t.byText[n.Text] = ref
	}
	return ref
}

func (t *nameTable) resolve(names iter.Seq[string]) int {
	if t.hashed == 0 {
		return 0
	}
	for name := range names {
		if ref, ok := t.byMD5[symname.GUID(name)]; ok && t.list[ref].Hashed {
			t.byText[t.arena.Clone(name)] = ref
		}
	}
	for name, ref := range t.byText {
		if t.list[ref].Hashed {
			t.list[ref] = Name{Text: name}
			t.hashed--
		}
	}
	return t.hashed
}
