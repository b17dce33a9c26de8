package wire

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// The strings of a trie: all of them, one, or some. Nothing says how long a child is, so what is
// not wanted is parsed, but not decoded.

// Strings decodes a string table, whose strings are not longer than limit all together, by string
// index.
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
	if f.Err != nil {
		return nil
	}
	return d.names
}

// maxNameChunk is how much room for names is made at a time. How long the names of a table are
// shows only when they have been read.
const maxNameChunk = 32 << 10

type trieDecoder struct {
	Trie
	path  []byte // the current node's string
	names []string
	seen  BitSet // names that are there
	found int
	left  int // of limit
	limit int

	text  *strings.Builder // the latest names, one after the other; never grown beyond its first size
	chunk int              // that size
}

func (d *trieDecoder) run() {
	d.visit()
	for {
		parent, label, ok := d.Child()
		if !ok {
			return
		}
		d.path = append(d.path[:parent], label...)
		d.visit()
	}
}

// visit reads the current node.
func (d *trieDecoder) visit() {
	pos := d.Pos
	children, terminal, id := d.Node()
	if d.Err != nil {
		return
	}
	if terminal {
		d.add(pos, id)
	}
	d.Descend(children)
}

// add keeps the string of the current node, which is at pos.
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
		d.Fail(pos, fault.ErrLimit, "%s", nameLimit(d.limit))
		return
	}
	d.seen.Add(id)
	d.names[id] = d.spell()
	d.found++
}

// spell returns the current node's string.
func (d *trieDecoder) spell() string {
	if d.text == nil || len(d.path) > d.text.Cap()-d.text.Len() {
		d.text = new(strings.Builder)
		d.text.Grow(max(d.chunk, len(d.path)))
	}
	d.text.Write(d.path)
	return d.text.String()[d.text.Len()-len(d.path):]
}

func nameLimit(limit int) string {
	return fmt.Sprintf("the names of the unit exceed %d bytes, see MaxNameBytes", limit)
}

// FindString looks a name up in a string table without decoding it: it follows the labels that fit
// and passes over the rest. It allocates little or nothing.
func (f *Fields) FindString(name string) (index uint32, ok bool) {
	f.Uint32() // the number of strings
	t := Trie{Fields: f}
	for {
		children, terminal, id := f.Node()
		if f.Err != nil {
			return 0, false
		}
		if terminal && t.Prefix == len(name) {
			return id, true
		}
		t.Descend(children)
		if !follow(&t, name) {
			return 0, false
		}
	}
}

// follow moves on to the next child whose string name begins with.
func follow(t *Trie, name string) bool {
	for {
		parent, label, ok := t.Child()
		if !ok {
			return false
		}
		if rest := name[parent:]; len(label) <= len(rest) && rest[:len(label)] == string(label) {
			return true
		}
		t.SkipNode()
	}
}

// SomeStrings calls yield for strings of a string table, until it returns false: those all of whose
// labels pass enter, which gets the number of bytes before each. It parses the rest, but decodes
// nothing of it.
func (f *Fields) SomeStrings(enter func(n int, label []byte) bool, yield func(index uint32, name []byte) bool) {
	f.Uint32() // the number of strings
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

// maxPickDepth is how deep a string table may be for strings to be picked out of it. Real ones are
// some dozens of nodes deep.
const maxPickDepth = 1 << 16

// step is a node on the way to the current one.
type step struct {
	left  int    // children that are still to come
	label []byte // that leads on
}

// PickStrings takes the strings of a string table that are wanted out of the set and calls yield
// for each, until it returns false. It spells no others, and ends at a fault, which it does not
// report, and in a table that is very deep. What yield gets is valid until it returns.
func (f *Fields) PickStrings(wanted BitSet, yield func(index uint32, name []byte) bool) {
	f.StringCount()
	var name []byte
	way := make([]step, 0, 64)
	for f.Err == nil && len(way) < maxPickDepth {
		children, terminal, index := f.Node()
		if terminal && wanted.Has(index) {
			name = name[:0]
			for _, s := range way {
				name = append(name, s.label...)
			}
			wanted.Remove(index)
			if !yield(index, name) {
				return
			}
		}
		if children > 0 {
			way = append(way, step{left: children})
		}
		for len(way) > 0 && way[len(way)-1].left == 0 {
			way = way[:len(way)-1]
		}
		if len(way) == 0 {
			return
		}
		last := &way[len(way)-1]
		last.left--
		last.label = f.Label()
	}
}
