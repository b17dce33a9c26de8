package afdo

import (
	"math"
	"strings"
)

// A string table (RFC 4.3) is a trie in pre-order: a node is a bitmask, its
// string index if a string ends there, and for each child a label and the
// child. Nothing says how long a child is, so what is not wanted is parsed, but not decoded.

const terminalFlag = 0x80 // of a node's bitmask; the rest is its number of children

// nameRef is where a name stands among the names of a string table. 8 bytes.
type nameRef struct{ off, len uint32 }

// names is a string table written out: the names one after the other, in the
// order of the trie, and where each is by its string index.
type names struct {
	text  string
	index []nameRef
}

func (n *names) name(i uint32) string {
	ref := n.index[i]
	return n.text[ref.off : ref.off+ref.len]
}

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

// names reads a string table whose names are not longer than limit, all together.
func (f *fields) names(limit int) (*names, error) {
	count := f.count(uint64(f.uint32()), 1+4, 1+1, "strings")
	d := trieDecoder{trie: trie{fields: f}, limit: limit}
	d.index = make([]nameRef, count)
	for i := range d.index {
		d.index[i].off = math.MaxUint32
	}
	d.run()
	if f.err == nil && d.found < count {
		f.fail(f.pos, ErrTrie, "%d of %d strings are missing", count-d.found, count)
	}
	if f.err != nil {
		return nil, f.err
	}
	return &names{text: d.text.String(), index: d.index}, nil
}

type trieDecoder struct {
	trie
	path  []byte // the current node's string
	text  strings.Builder
	index []nameRef
	found int
	limit int
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
	if uint64(id) >= uint64(len(d.index)) {
		d.fail(pos, ErrTrie, "string index %d, the table has %d strings", id, len(d.index))
		return
	}
	if d.index[id].off != math.MaxUint32 {
		d.fail(pos, ErrTrie, "string index %d a second time", id)
		return
	}
	if len(d.path) > d.limit-d.text.Len() {
		d.fail(pos, ErrLimit, "the names of the unit exceed %d bytes, see MaxNameBytes", d.limit)
		return
	}
	d.index[id] = nameRef{uint32(d.text.Len()), uint32(len(d.path))}
	d.text.Write(d.path)
	d.found++
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
