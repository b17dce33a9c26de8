package wire

import (
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// This file reads the strings of a trie: all, one, or some. The length of a child is not stored, so
// unwanted strings are parsed but not decoded.

// Strings decodes a string table, by string index. It is an error if the strings have more than
// limit bytes in total.
func (f *Fields) Strings(limit int) []string {
	count := f.StringCount()
	d := trieDecoder{
		Trie:  Trie{Fields: f, Frames: make([]TrieFrame, 0, 32)},
		path:  make([]byte, 0, 256),
		names: make([]string, count),
		seen:  NewBitSet(count),
		left:  limit,
		limit: limit,
		chunk: min(2*len(f.Data), maxNameChunk),
	}
	d.run()
	if f.Err == nil && d.found < count {
		f.Fail(f.Pos, fault.ErrTrie, "%d of %d strings are missing", count-d.found, count)
	}
	if f.Err == nil && d.odd {
		d.checkTwice()
	}
	if f.Err != nil {
		return nil
	}
	return d.names
}

// maxNameChunk is the maximum size in bytes of an allocation for names. The total length of the
// names is known only after decoding.
const maxNameChunk = 32 << 10

type trieDecoder struct {
	Trie
	path  []byte // string of the current node
	names []string
	seen  BitSet // names that have been set
	found int
	left  int // rest of limit
	limit int

	firsts []int // by frame: the first byte of the latest label, -1 before the first
	odd    bool  // labels of a node do not ascend, so two paths may spell one string

	text  *strings.Builder // the latest names, concatenated; never grown beyond its first size
	chunk int              // that size
}

func (d *trieDecoder) run() {
	d.visit()
	for {
		depth := len(d.Frames)
		parent, label, ok := d.Child()
		if !ok {
			return
		}
		if first := d.firsts[depth-1]; len(label) == 0 || int(label[0]) <= first {
			d.odd = true
		} else {
			d.firsts[depth-1] = int(label[0])
		}
		d.path = append(d.path[:parent], label...)
		d.visit()
	}
}

// visit reads the node of the trie that comes next. If a string ends there, visit stores the
// string.
func (d *trieDecoder) visit() {
	pos := d.Pos
	children, terminal, id := d.Node()
	if d.Err != nil {
		return
	}
	if terminal {
		d.add(pos, id)
	}
	if children > 0 {
		d.firsts = append(d.firsts[:len(d.Frames)], -1)
	}
	d.Descend(children)
}

// checkTwice records an error if two paths of the trie lead to the same string.
func (d *trieDecoder) checkTwice() {
	there := make(map[string]bool, len(d.names))
	for _, name := range d.names {
		if there[name] {
			d.Fail(d.Pos, fault.ErrTrie, "duplicate string %.100q", name)
			return
		}
		there[name] = true
	}
}

// add stores the string of the current node, which is at pos.
func (d *trieDecoder) add(pos int, id uint32) {
	if uint64(id) >= uint64(len(d.names)) {
		d.Fail(pos, fault.ErrTrie, "string index %d, the table has %d strings", id, len(d.names))
		return
	}
	if d.seen.Has(id) {
		d.Fail(pos, fault.ErrTrie, "duplicate string index %d", id)
		return
	}
	if d.left -= len(d.path); d.left < 0 {
		d.Fail(pos, fault.ErrLimit, "the names of the unit exceed %d bytes, see MaxNameBytes", d.limit)
		return
	}
	d.seen.Add(id)
	d.names[id] = d.spell()
	d.found++
}

// spell returns the string that ends at the current node: the labels on the path to the node,
// joined.
func (d *trieDecoder) spell() string {
	if d.text == nil || len(d.path) > d.text.Cap()-d.text.Len() {
		d.text = new(strings.Builder)
		d.text.Grow(max(d.chunk, len(d.path)))
	}
	d.text.Write(d.path)
	return d.text.String()[d.text.Len()-len(d.path):]
}

// SomeStrings calls yield for each string whose labels all pass enter, until yield returns false.
// enter gets the number of bytes before a label, and the label. Other strings are parsed but not
// decoded.
func (f *Fields) SomeStrings(enter func(n int, label []byte) bool, yield func(index uint32, name []byte) bool) {
	f.Uint32() // number of strings
	t := Trie{Fields: f}
	var name []byte
	for {
		children, terminal, id := f.Node()
		if f.Err != nil || terminal && !yield(id, name) {
			return
		}
		t.Descend(children)
		for {
			parent, label, ok := t.Child()
			if !ok {
				return
			}
			if enter(parent, label) {
				name = append(name[:parent], label...)
				break
			}
			t.SkipNode()
		}
	}
}

// maxPickDepth is the maximum depth of a string table from which strings can be picked. Real tables
// are a few dozen nodes deep.
const maxPickDepth = 1 << 16

// A step is a node on the path from the root of the trie to the node that is being read.
type step struct {
	left     int // children left to visit
	from, to int // position of the label of the edge that leads to the next node
}

// PickStrings calls yield for each wanted string, until yield returns false. It removes these
// strings from wanted. It does not decode other strings. It stops, without reporting an error, if
// the table is malformed or very deep. The name is valid during the call of yield.
func (f *Fields) PickStrings(wanted BitSet, yield func(index uint32, name []byte) bool) {
	f.StringCount()
	var name []byte
	way := make([]step, 0, 64)
	for f.Err == nil && len(way) < maxPickDepth {
		children, terminal, index := f.Node()
		if terminal && wanted.Has(index) {
			name = name[:0]
			for _, s := range way {
				name = append(name, f.Data[s.from:s.to]...)
			}
			wanted.Remove(index)
			if !yield(index, name) {
				return
			}
		}
		if children > 0 {
			way = append(way, step{left: children})
		}
		for len(way) > 0 {
			last := &way[len(way)-1]
			if last.left -= f.skipLeaves(last.left, wanted); last.left > 0 {
				last.left--
				n := len(f.Label())
				last.from, last.to = f.Pos-n, f.Pos
				break
			}
			way = way[:len(way)-1]
		}
		if len(way) == 0 {
			return
		}
	}
}

// skipLeaves skips children of a node, as long as they have no children of their own and no wanted
// string ends there. n is the number of children left. It returns how many it has skipped. In a
// table that is not compact it skips none.
func (f *Fields) skipLeaves(n int, wanted BitSet) (skipped int) {
	if !f.Compact {
		return 0
	}
	for ; skipped < n; skipped++ {
		p := f.Data[f.Pos:]
		if len(p) == 0 || p[0] >= 0x80 {
			break
		}
		node := 1 + int(p[0])
		if len(p)-node < 1+8 || p[node] != terminalFlag {
			break
		}
		index, size := shortVarint(p[node+1:])
		if size == 0 || wanted.Has(index) {
			break
		}
		f.Pos += node + 1 + size
	}
	return skipped
}

// A BitSet is a set of small numbers.
type BitSet []uint64

// NewBitSet returns an empty set for numbers below n.
func NewBitSet(n int) BitSet { return make(BitSet, (n+63)/64) }

func (s BitSet) Add(i uint32) { s[i/64] |= 1 << (i % 64) }

func (s BitSet) Remove(i uint32) { s[i/64] &^= 1 << (i % 64) }

// Has reports whether the set contains i, which may be any number.
func (s BitSet) Has(i uint32) bool { return int(i/64) < len(s) && s[i/64]>>(i%64)&1 != 0 }

// An IndexSet is a set of a few numbers out of many. If a million units share a table of a million
// strings and each uses one string, a bit set per unit would be too expensive.
type IndexSet struct {
	bits   BitSet
	sparse map[uint32]bool // nil if bits is used
}

// NewIndexSet returns a set for up to some of n numbers.
func NewIndexSet(n, some int) IndexSet {
	if n/64 <= some {
		return IndexSet{bits: NewBitSet(max(n, 0))}
	}
	return IndexSet{sparse: make(map[uint32]bool, some)}
}

// Add adds a number. It reports whether the set already contained it.
func (s *IndexSet) Add(i uint32) (there bool) {
	if s.sparse == nil {
		there = s.bits.Has(i)
		s.bits.Add(i)
		return there
	}
	there = s.sparse[i]
	s.sparse[i] = true
	return there
}

// A string table (RFC 4.3) is a trie in pre-order. A node is a bitmask, its string index if a
// string ends there, and a label and a node for each child. The length of a child is not stored.

// The limits of a node and a label (format note 11), and the flag in a node's bitmask that a string
// ends there.
const (
	MaxChildren  = 127
	MaxLabel     = math.MaxUint16
	terminalFlag = 0x80
)

// StringCount decodes the number of strings.
func (f *Fields) StringCount() int { return f.Count(uint64(f.Uint32()), 1+4, 1+1, "strings") }

// Node decodes the bitmask of a node: how many children the node has, and whether a string ends
// there. If one does, Node also decodes the index of the string.
func (f *Fields) Node() (children int, terminal bool, id uint32) {
	if p := f.Data[f.Pos:]; f.Compact && len(p) > 8 { // nearly all nodes
		if p[0]&terminalFlag == 0 {
			f.Pos++
			return int(p[0]), false, 0
		}
		if id, n := shortVarint(p[1:]); n > 0 {
			f.Pos += 1 + n
			return int(p[0] &^ terminalFlag), true, id
		}
	}
	mask := f.Byte()
	if mask&terminalFlag != 0 {
		id = f.Uint32()
	}
	return int(mask &^ terminalFlag), mask&terminalFlag != 0, id
}

// Node encodes a node at which no string ends.
func (e *Encoder) Node(children int) { e.Byte(byte(children)) }

// Terminal encodes a node at which a string ends.
func (e *Encoder) Terminal(children int, id uint32) {
	e.Byte(byte(children) | terminalFlag)
	e.Uint32(id)
}

// Label decodes the label of an edge.
func (f *Fields) Label() []byte {
	if p := f.Data[f.Pos:]; f.Compact && len(p) > 0 && p[0] < 0x80 && len(p) > int(p[0]) {
		n := 1 + int(p[0])
		f.Pos += n
		return p[1:n]
	}
	return f.Take(int(f.Uint16()), "an edge label")
}

// Label encodes the label of an edge.
func (e *Encoder) Label(label string) {
	e.Uint16(uint16(len(label)))
	e.String(label)
}

// SkipNode skips a node and everything below it.
func (f *Fields) SkipNode() {
	for pending := 1; ; {
		children, _, _ := f.Node()
		pending += children - 1
		if f.Err != nil || pending == 0 {
			return
		}
		f.Label()
	}
}

// A Trie visits the nodes of a trie in pre-order. It keeps only those nodes on the path to the
// current one that have children left, so a chain of nodes needs no memory.
type Trie struct {
	*Fields
	Frames []TrieFrame
	Prefix int // length of the current node's string
}

// A TrieFrame is a node on the path to the current node of a [Trie] that has children which have
// not been visited.
type TrieFrame struct {
	Children int
	Prefix   int // length of the node's string
}

// Descend records that the current node has children.
func (t *Trie) Descend(children int) {
	if children > 0 {
		t.Frames = append(t.Frames, TrieFrame{children, t.Prefix})
	}
}

// Child decodes the label of the next child. It returns the length of the parent's string. It
// returns false if there are no more children.
func (t *Trie) Child() (parent int, label []byte, ok bool) {
	if len(t.Frames) == 0 || t.Err != nil {
		return 0, nil, false
	}
	top := &t.Frames[len(t.Frames)-1]
	parent = top.Prefix
	if top.Children--; top.Children == 0 {
		t.Frames = t.Frames[:len(t.Frames)-1]
	}
	label = t.Label()
	t.Prefix = parent + len(label)
	return parent, label, t.Err == nil
}

// The limits of a mark. The paths of real tables have a few hundred bytes and a few dozen nodes.
const (
	maxMarkPath   = 1 << 12
	maxMarkFrames = 1 << 8
)

// A TrieMark is a node in the middle of a string table, with what has to be known of the nodes
// before it to begin decoding there.
type TrieMark struct {
	Pos    int    // position of the node, after its label
	Path   []byte // string of the node
	Frames []TrieFrame
}

// TrieMarks returns a mark for every n-th string of a string table: the first mark is at the root
// of the trie, and the next ones are at the nodes of strings n, 2n and so on. Afterwards f is at
// the end of the trie. TrieMarks returns false if the strings are not numbered in the order of the
// trie, if the path to a mark is very long, or if the table is malformed.
func (f *Fields) TrieMarks(n int) (marks []TrieMark, ok bool) {
	count, next := f.StringCount(), 0
	t := Trie{Fields: f}
	var path []byte
	for {
		m := TrieMark{Pos: f.Pos}
		children, terminal, id := f.Node()
		if f.Err != nil || terminal && uint64(id) != uint64(next) {
			return nil, false
		}
		if len(marks) == 0 || terminal && next > 0 && next%n == 0 {
			if len(path) > maxMarkPath || len(t.Frames) > maxMarkFrames {
				return nil, false
			}
			m.Path, m.Frames = slices.Clone(path), slices.Clone(t.Frames)
			marks = append(marks, m)
		}
		if terminal {
			next++
		}
		t.Descend(children)
		parent, label, ok := t.Child()
		if !ok {
			return marks, f.Err == nil && next == count
		}
		path = append(path[:parent], label...)
	}
}

// PickStringsFrom is [Fields.PickStrings] for a part of a string table that begins at a mark and
// ends before the node of another. It returns false if the part is malformed, and does not change
// wanted. It uses the memory of scratch, which may be empty.
func (f *Fields) PickStringsFrom(m, scratch *TrieMark, wanted BitSet, yield func(index uint32, name []byte) bool) bool {
	t := Trie{Fields: f, Frames: append(scratch.Frames[:0], m.Frames...), Prefix: len(m.Path)}
	path := append(scratch.Path[:0], m.Path...)
	defer func() { scratch.Frames, scratch.Path = t.Frames, path }()
	for f.Rest() > 0 {
		children, terminal, index := f.Node()
		if f.Err != nil {
			return false
		}
		if terminal && wanted.Has(index) && !yield(index, path) {
			return true
		}
		t.Descend(children)
		t.skipLeaves(wanted)
		parent, label, ok := t.Child()
		if !ok {
			return f.Err == nil && f.Rest() == 0
		}
		if parent > len(path) {
			return false
		}
		path = append(path[:parent], label...)
	}
	return true
}

// skipLeaves skips the next children of the current node, as long as they have no children of their
// own and no wanted string ends there.
func (t *Trie) skipLeaves(wanted BitSet) {
	for len(t.Frames) > 0 {
		top := &t.Frames[len(t.Frames)-1]
		if top.Children -= t.Fields.skipLeaves(top.Children, wanted); top.Children > 0 {
			return
		}
		t.Frames = t.Frames[:len(t.Frames)-1]
	}
}
