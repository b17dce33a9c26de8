package afdo

import (
	"fmt"
	"strings"
)

// A string table (RFC 4.3) is a trie in pre-order: a node is a bitmask, its
// string index if a string ends there, and for each child a label and the
// child. Nothing says how long a child is, so what is not wanted is parsed, but not decoded.

const terminalFlag = 0x80 // of a node's bitmask; the rest is its number of children

// node reads the bitmask of a node and the string index of a terminal.
func (f *fields) node() (children int, terminal bool, id uint32) {
	mask := f.byte()
	if mask&terminalFlag != 0 {
		id = f.uint32()
	}
	return int(mask &^ terminalFlag), mask&terminalFlag != 0, id
}

func (f *fields) label() []byte {
	return f.take(int(f.uint16()), "an edge label")
}

// trieFrame is a node some children of which are still to come.
type trieFrame struct {
	children int
	prefix   int // length of the node's string
}

// trie steps through the nodes of a trie in pre-order. It keeps the nodes on
// the path to the current one that have children left, so a chain of nodes costs nothing.
type trie struct {
	*fields
	frames []trieFrame
	prefix int // length of the current node's string
}

// descend notes that the current node has children to come.
func (t *trie) descend(children int) {
	if children > 0 {
		t.frames = append(t.frames, trieFrame{children, t.prefix})
	}
}

// child reads the label of the next child and returns the length of the
// string of its parent. It is false when there are no more.
func (t *trie) child() (parent int, label []byte, ok bool) {
	if len(t.frames) == 0 || t.err != nil {
		return 0, nil, false
	}
	top := &t.frames[len(t.frames)-1]
	parent = top.prefix
	if top.children--; top.children == 0 {
		t.frames = t.frames[:len(t.frames)-1]
	}
	label = t.label()
	t.prefix = parent + len(label)
	return parent, label, t.err == nil
}

// stringCount reads the number of strings.
func (f *fields) stringCount() int {
	return f.count(uint64(f.uint32()), 1+4, 1+1, "strings")
}

// names reads a string table, whose names are not longer than limit all
// together, into names by string index.
func (f *fields) names(limit int) ([]string, error) {
	count := f.stringCount()
	d := trieDecoder{
		trie:  trie{fields: f, frames: make([]trieFrame, 0, 32)},
		path:  make([]byte, 0, 256),
		names: make([]string, count),
		seen:  make([]uint64, (count+63)/64),
		left:  limit,
		limit: limit,
		chunk: min(2*len(f.data), maxNameChunk),
	}
	d.run()
	if f.err == nil && d.found < count {
		f.fail(f.pos, ErrTrie, "%d of %d strings are missing", count-d.found, count)
	}
	if f.err != nil {
		return nil, f.err
	}
	return d.names, nil
}

// maxNameChunk is how much room for names is made at a time. How long the names
// of a table are shows only when they have been read.
const maxNameChunk = 32 << 10

type trieDecoder struct {
	trie
	path  []byte // the current node's string
	names []string
	seen  []uint64 // names that are there, a bit each
	found int
	left  int // of limit
	limit int

	text  *strings.Builder // the latest names, one after the other; never grown beyond its first size
	chunk int              // that size
}

func (d *trieDecoder) run() {
	d.visit()
	for {
		parent, label, ok := d.child()
		if !ok {
			return
		}
		d.path = append(d.path[:parent], label...)
		d.visit()
	}
}

// visit reads the current node.
func (d *trieDecoder) visit() {
	pos := d.pos
	children, terminal, id := d.node()
	if d.err != nil {
		return
	}
	if terminal {
		d.add(pos, id)
	}
	d.descend(children)
}

// add keeps the string of the current node, which is at pos.
func (d *trieDecoder) add(pos int, id uint32) {
	if uint64(id) >= uint64(len(d.names)) {
		d.fail(pos, ErrTrie, "string index %d, the table has %d strings", id, len(d.names))
		return
	}
	if d.seen[id/64]>>(id%64)&1 != 0 {
		d.fail(pos, ErrTrie, "string index %d a second time", id)
		return
	}
	if d.left -= len(d.path); d.left < 0 {
		d.fail(pos, ErrLimit, "%s", nameLimit(d.limit))
		return
	}
	d.seen[id/64] |= 1 << (id % 64)
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

// find looks a name up in a string table without decoding it: it follows the
// labels that fit and passes over the rest. It allocates little or nothing.
func (f *fields) find(name string) (index uint32, ok bool) {
	f.uint32() // the number of strings
	t := trie{fields: f}
	for {
		children, terminal, id := f.node()
		if f.err != nil {
			return 0, false
		}
		if terminal && t.prefix == len(name) {
			return id, true
		}
		t.descend(children)
		if !t.follow(name) {
			return 0, false
		}
	}
}

// follow moves on to the next child whose string name begins with.
func (t *trie) follow(name string) bool {
	for {
		parent, label, ok := t.child()
		if !ok {
			return false
		}
		if rest := name[parent:]; len(label) <= len(rest) && rest[:len(label)] == string(label) {
			return true
		}
		t.skipNode()
	}
}

// skipNode passes over a node and everything below it.
func (f *fields) skipNode() {
	for pending := 1; ; {
		children, _, _ := f.node()
		pending += children - 1
		if f.err != nil || pending == 0 {
			return
		}
		f.label()
	}
}
