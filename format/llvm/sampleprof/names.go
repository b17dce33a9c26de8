package sampleprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-afdo/afdo/internal/arena"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// names is the names section of a file.
type names struct {
	data   []byte   // the bytes of the section
	starts []uint32 // start of each NUL-terminated name in data, and the end of the last one
	md5    []uint64 // used instead of starts if names are hashed

	// LLVM writes names in order and without duplicates. If a file violates this, ordered is false,
	// and first has the number of the first equal name for each name; it is nil if there are no
	// duplicates.
	first   []NameRef
	ordered bool
}

func (n *names) len() int {
	if n.md5 != nil {
		return len(n.md5)
	}
	return max(len(n.starts)-1, 0)
}

// bytes returns a name that is not hashed.
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

// find returns the number of a name.
func (n *names) find(name string) (NameRef, bool) {
	if n.md5 != nil {
		return n.findMD5(GUID(name))
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
		n.settle()
	}
	return n
}

// fixedMD5s reads n MD5s of 8 bytes. The caller has checked that they fit.
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
// tree in breadth-first order. The number of a name is its position in the concatenated arrays.
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

// settle finds out whether the names are in order, and finds duplicates if they are not.
func (n *names) settle() {
	n.ordered = true
	for i := 1; i < n.len(); i++ {
		if n.compareNames(NameRef(i-1), NameRef(i)) >= 0 {
			n.ordered = false
			break
		}
	}
	if n.ordered {
		return
	}
	n.first = firsts[NameRef](n.len(), n.compareNames)
}

// firsts returns the first equal item for each of n items. It returns nil if there are no
// duplicates.
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

// name reads a reference to a name.
func (f *fields) name(n *names) NameRef {
	pos := f.Pos
	i := f.uint64()
	if i >= uint64(n.len()) {
		f.Fail(pos, errName, "name %d of %d", i, n.len())
		return 0
	}
	if n.first != nil {
		return n.first[i]
	}
	return NameRef(i)
}

// putNames appends a names section.
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

// A Name identifies a function, a callee or the type of a vtable: the linkage name, or its MD5.
type Name struct {
	Text   string // empty if Hashed
	MD5    uint64 // GUID of the name, if Hashed; otherwise 0
	Hashed bool   // only the MD5 of the name is known
}

// GUID returns the first 8 bytes of the MD5 of a name, in little-endian order. LLVM uses it as the
// identifier of a function.
func GUID(name string) uint64 {
	return symname.GUID(name)
}

// GUID returns the GUID of the name. Unless the name is hashed, this takes about 150 ns.
func (n Name) GUID() uint64 {
	if n.Hashed {
		return n.MD5
	}
	return GUID(n.Text)
}

// String returns the name, or its MD5 in decimal, as in LLVM's text form.
func (n Name) String() string {
	if n.Hashed {
		return strconv.FormatUint(n.MD5, 10)
	}
	return n.Text
}

// compare orders names as LLVM does: MD5s by value, then names by bytes.
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

// compare orders names. It is called only to order several items of the same place.
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
		if ref, ok := t.byMD5[GUID(n.Text)]; ok {
			return ref
		}
	}
	return t.append(Name{Text: t.arena.Clone(n.Text)})
}

// hash builds byMD5, so that names are found by MD5 from now on.
func (t *nameTable) hash() {
	if t.byMD5 != nil {
		return
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
	t.hash()
	if t.byText == nil {
		t.byText = map[string]NameRef{}
	}
	for name := range names {
		ref, ok := t.byMD5[GUID(name)]
		if !ok || !t.list[ref].Hashed {
			continue
		}
		name = t.arena.Clone(name)
		t.list[ref] = Name{Text: name}
		t.byText[name] = ref
		t.hashed--
	}
	return t.hashed
}

// A Frame is one function of a calling context. Except in the last frame, Line and Discriminator
// are the place of the call to the next frame.
type Frame struct {
	Name          NameRef
	Discriminator uint32
	Line          uint16
}

// contexts is the decoded contexts section of a file.
type contexts struct {
	frames []Frame
	starts []uint32 // index in frames of the start of each context, and of the end of the last one
	first  []uint32 // if there are duplicates, the number of the first equal context for each context; else nil
}

func (c *contexts) len() int {
	if c == nil {
		return 0
	}
	return max(len(c.starts)-1, 0)
}

func (c *contexts) at(i uint32) []Frame { return c.frames[c.starts[i]:c.starts[i+1]:c.starts[i+1]] }

// readContexts decodes a contexts section.
func (f *fields) readContexts(list *names) *contexts {
	c := new(contexts)
	count := f.count(1, "contexts")
	c.starts = make([]uint32, 1, count+1)
	for range count {
		frames := f.count(3, "frames")
		for range frames {
			c.frames = append(c.frames, Frame{Name: f.name(list), Line: f.line(), Discriminator: f.uint32("discriminator")})
		}
		if f.Err == nil && frames == 0 {
			f.Fail(f.Pos-1, errName, "a context of no function")
		}
		if f.Err != nil {
			break
		}
		if last := c.frames[len(c.frames)-1]; last.Line != 0 || last.Discriminator != 0 {
			f.Fail(f.Pos-1, errName, "the last function of a context has a call, at %d.%d", last.Line, last.Discriminator)
		}
		c.starts = append(c.starts, uint32(len(c.frames)))
	}
	if f.Err == nil {
		c.settle(list)
	}
	return c
}

// settle finds duplicate contexts. Contexts in ascending order have none. Writers sort contexts,
// but by name, so with hashed names they are not in order.
func (c *contexts) settle(list *names) {
	byContext := func(i, j uint32) int { return compareContexts(c.at(i), c.at(j), list.compare) }
	ordered := true
	for i := 1; i < c.len() && ordered; i++ {
		ordered = byContext(uint32(i-1), uint32(i)) < 0
	}
	if !ordered {
		c.first = firsts[uint32](c.len(), byContext)
	}
}

// putContexts appends a contexts section. rank holds the number of each name in the file.
func putContexts(b []byte, list [][]Frame, rank []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, frames := range list {
		b = binary.AppendUvarint(b, uint64(len(frames)))
		for _, f := range frames {
			b = binary.AppendUvarint(b, uint64(rank[f.Name]))
			b = binary.AppendUvarint(b, uint64(f.Line))
			b = binary.AppendUvarint(b, uint64(f.Discriminator))
		}
	}
	return b
}

// compareContexts orders contexts frame by frame: by name, line and discriminator.
func compareContexts(a, b []Frame, compare func(s, t NameRef) int) int {
	for i := range min(len(a), len(b)) {
		f, g := &a[i], &b[i]
		if f.Name != g.Name {
			return compare(f.Name, g.Name)
		}
		if c := cmp.Or(cmp.Compare(f.Line, g.Line), cmp.Compare(f.Discriminator, g.Discriminator)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// frameSeparator separates the frames of a context in text.
const frameSeparator = " @ "

// appendContext appends a context in its text form, without the brackets.
func appendContext(b []byte, frames []Frame, name func(NameRef) Name) []byte {
	for i, f := range frames {
		if i > 0 {
			b = append(b, frameSeparator...)
		}
		b = append(b, name(f.Name).String()...)
		if i < len(frames)-1 {
			b = append(b, ':')
			b = appendLocation(b, f.Line, f.Discriminator)
		}
	}
	return b
}

// context reads a reference to a context.
func (f *fields) context(c *contexts) uint32 {
	pos := f.Pos
	i := f.uint64()
	if i >= uint64(c.len()) {
		f.Fail(pos, errName, "context %d of %d", i, c.len())
		return 0
	}
	if c.first != nil {
		return c.first[i]
	}
	return uint32(i)
}

// appendLocation appends LINE or LINE.DISCRIMINATOR.
func appendLocation(b []byte, line uint16, discriminator uint32) []byte {
	b = strconv.AppendUint(b, uint64(line), 10)
	if discriminator > 0 {
		b = append(b, '.')
		b = strconv.AppendUint(b, uint64(discriminator), 10)
	}
	return b
}

// A textFrame is a frame of a context parsed from text.
type textFrame struct {
	name          string
	line          uint16
	discriminator uint32
}

// parseContext parses the text form of a context, without the brackets. It returns false if a frame
// is malformed.
func parseContext(text string) ([]textFrame, bool) {
	parts := strings.Split(text, frameSeparator)
	frames := make([]textFrame, len(parts))
	for i, part := range parts {
		name, at, called := strings.Cut(part, ":")
		frames[i].name = name
		if called && i == len(parts)-1 || name == "" {
			return nil, false
		}
		if !called {
			continue // LLVM's place of such a call is line 0
		}
		line, discriminator, dotted := strings.Cut(at, ".")
		l, err := strconv.ParseUint(line, 10, 16)
		if err != nil {
			return nil, false
		}
		frames[i].line = uint16(l)
		if dotted {
			d, err := strconv.ParseUint(discriminator, 10, 32)
			if err != nil {
				return nil, false
			}
			frames[i].discriminator = uint32(d)
		}
	}
	return frames, true
}
