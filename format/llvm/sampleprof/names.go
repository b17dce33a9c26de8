package sampleprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// names is the decoded names section of a file.
type names struct {
	data   []byte   // the bytes of the section
	starts []uint32 // start of each NUL-terminated name in data, and the end of the last one
	md5    []uint64 // used instead of starts if names are hashed

	// first is nil if all names differ. Otherwise it has, for each name, the number of the first
	// name that is equal to it. ordered is true if the names ascend. LLVM writes names in ascending
	// order and without duplicates, but a file may violate this.
	first   []NameRef
	ordered bool
}

func (n *names) len() int {
	if n.md5 != nil {
		return len(n.md5)
	}
	return max(len(n.starts)-1, 0)
}

// bytes returns the text of the name with index ref in the name table. The table must store texts,
// not MD5 hashes.
func (n *names) bytes(ref NameRef) []byte { return n.data[n.starts[ref] : n.starts[ref+1]-1] }

func (n *names) name(ref NameRef) Name {
	if n.md5 != nil {
		return Name{MD5: n.md5[ref], Hashed: true}
	}
	b := n.bytes(ref)
	return Name{Text: unsafe.String(unsafe.SliceData(b), len(b))}
}

func (n *names) compare(s, t NameRef) int {
	if n.ordered {
		return cmp.Compare(s, t)
	}
	return n.compareNames(s, t)
}

func (n *names) compareNames(s, t NameRef) int {
	if n.md5 != nil {
		return cmp.Compare(n.md5[s], n.md5[t])
	}
	return bytes.Compare(n.bytes(s), n.bytes(t))
}

// find returns the index of a name in the section, and whether the section contains the name.
func (n *names) find(name string) (NameRef, bool) {
	if n.md5 != nil {
		return n.findMD5(symname.GUID(name))
	}
	if !n.ordered {
		for i := range n.len() {
			if string(n.bytes(NameRef(i))) == name {
				return NameRef(i), true
			}
		}
		return 0, false
	}
	i := sort.Search(n.len(), func(i int) bool { return string(n.bytes(NameRef(i))) >= name })
	return NameRef(i), i < n.len() && string(n.bytes(NameRef(i))) == name
}

func (n *names) findMD5(guid uint64) (NameRef, bool) {
	i := slices.Index(n.md5, guid)
	return NameRef(max(i, 0)), i >= 0
}

// readNames decodes a whole names section.
func (f *fields) readNames() *names {
	n := &names{data: f.Data}
	switch flags := f.section.Flags; {
	case flags&flagEytzinger != 0:
		f.readSpans(n)
	case flags&flagFixedMD5 != 0:
		n.md5 = f.fixedMD5s(f.count(8, "MD5s"))
	case flags&flagMD5 != 0:
		n.md5 = make([]uint64, f.count(1, "MD5s"))
		for i := range n.md5 {
			n.md5[i] = f.uint64()
		}
	default:
		f.readStrings(n)
	}
	if f.Err == nil {
		n.findDuplicates()
	}
	return n
}

// fixedMD5s reads n MD5s of 8 bytes each. The caller has checked that the section has these bytes.
func (f *fields) fixedMD5s(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(f.Data[f.Pos:])
		f.Pos += 8
	}
	return list
}

// readSpans reads names that are stored as three arrays of MD5s: of functions with inlined bodies,
// of functions without, and of functions that are only inlined or called. Each array is a search
// tree in breadth-first order. The index of a name is its position in the concatenated arrays.
func (f *fields) readSpans(n *names) {
	const spans = 3
	total, pos := uint64(0), f.Pos
	for range spans {
		count := f.uint64()
		total += count
		if f.Err == nil && (count > math.MaxInt32 || total > uint64(f.Rest()/8)) {
			f.Fail(pos, fault.ErrCount, "%d MD5s in %d bytes", total, f.Rest())
		}
	}
	if f.Err == nil {
		n.md5 = f.fixedMD5s(int(total))
	}
}

func (f *fields) readStrings(n *names) {
	if uint64(len(f.Data)) > math.MaxUint32 {
		f.Fail(0, fault.ErrLimit, "%d bytes of names", len(f.Data))
		return
	}
	count := f.count(1, "names")
	n.starts = make([]uint32, count+1)
	for i := range count {
		n.starts[i] = uint32(f.Pos)
		f.skipString()
		if f.Err != nil {
			return
		}
	}
	n.starts[count] = uint32(f.Pos)
}

// findDuplicates sets n.ordered if the names ascend. If they do not, it searches for names that
// occur several times, and sets n.first.
func (n *names) findDuplicates() {
	n.ordered = true
	for i := 1; i < n.len() && n.ordered; i++ {
		n.ordered = n.compareNames(NameRef(i-1), NameRef(i)) < 0
	}
	if !n.ordered {
		n.first = firsts[NameRef](n.len(), n.compareNames)
	}
}

// firsts returns, for each of n entries, the index of the first entry that is equal to it. It
// returns nil if all entries differ.
func firsts[Ref ~uint32](n int, compare func(s, t Ref) int) []Ref {
	sorted := make([]Ref, n)
	for i := range sorted {
		sorted[i] = Ref(i)
	}
	slices.SortFunc(sorted, func(s, t Ref) int { return cmp.Or(compare(s, t), cmp.Compare(s, t)) })
	var first []Ref
	for i := 1; i < n; i++ {
		if compare(sorted[i-1], sorted[i]) != 0 {
			continue
		}
		if first == nil {
			first = make([]Ref, n)
			for j := range first {
				first[j] = Ref(j)
			}
		}
		first[sorted[i]] = first[sorted[i-1]]
	}
	return first
}

// name reads the index of a name in the names section. If several names of the section are equal,
// it returns the index of the first of them.
func (f *fields) name(n *names) NameRef { return index(f, "name", n.len(), n.first) }

// index reads the index of an entry in a table of n names or contexts. what says in errors which of
// the two it is. If several entries of the table are equal, index returns the index of the first of
// them. For that, first has the index of the first equal entry for each entry. It is nil if all
// entries differ.
func index[Ref ~uint32](f *fields, what string, n int, first []Ref) Ref {
	pos := f.Pos
	i := f.uint64()
	if i >= uint64(n) {
		f.Fail(pos, errName, "%s %d of %d", what, i, n)
		return 0
	}
	if first != nil {
		return first[i]
	}
	return Ref(i)
}

// putNames appends a names section to b. If hashed is set, the section has the MD5s of the names.
func putNames(b []byte, list []Name, hashed bool) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, name := range list {
		if hashed {
			b = binary.LittleEndian.AppendUint64(b, name.GUID())
		} else {
			b = append(append(b, name.Text...), 0)
		}
	}
	return b
}
