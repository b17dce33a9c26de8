package encode

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// stringTable encodes the string table of a unit (RFC 4.3). The index of a string is its position
// among the unit's names, which is also its position in the trie. So a reader can begin in the
// middle of the trie and knows which strings follow.
func (e *encoder) stringTable(u *symbols) {
	e.section.Uint32(uint32(len(u.byName)))
	t := &e.trie
	t.names = t.names[:0]
	for _, s := range u.byName {
		t.names = append(t.names, e.profile.SymbolName(s))
	}
	t.build()
	t.put(&e.section)
	e.add(afdo.SectionStringTable)
}

// A trie encodes sorted names as a path-compressed trie without building a tree. The nodes follow
// from the lengths of the prefixes that adjacent names share, and a string table lists the nodes in
// pre-order. This needs no recursion, however deep the trie. Reusing a trie saves allocations.
type trie struct {
	names []string // strictly ascending

	nodes []trieNode // in reverse pre-order
	open  []trieNode // stack of build: nodes that are not complete, from the root
	wide  []wideNode // stack of put: wide nodes that are not complete
}

// A trieNode is a node of the trie, with the edge to it: the label of the edge consists of the
// bytes from:to of the names that pass through the node.
type trieNode struct {
	from, to int
	children int16 // at most one per byte value
	terminal bool  // a name ends here
}

// A wideNode is a node of a trie that has more children than the format allows for one node, and
// that is being encoded. The children that do not fit are put into additional nodes, see
// [trie.makeRoom].
type wideNode struct {
	depth int // start of the labels of its children
	left  int // children not yet encoded
	room  int // how many children fit before the next edge with an empty label
}

// build computes the nodes of the trie from its names. It visits the names in reverse order. When
// it reaches a name, the nodes through which the previous name does not pass are complete.
func (t *trie) build() {
	t.nodes, t.open = t.nodes[:0], append(t.open[:0], trieNode{})
	for i := len(t.names) - 1; i >= 0; i-- {
		t.openName(len(t.names[i]))
		shared := 0
		if i > 0 {
			shared = commonPrefix(t.names[i-1], t.names[i])
		}
		t.close(shared)
	}
	t.nodes = append(t.nodes, t.open[0])
}

// openName opens the node at which a name of the given length ends, unless it is open already. A
// new node is deeper than all open nodes.
func (t *trie) openName(length int) {
	if last := &t.open[len(t.open)-1]; last.to == length {
		last.terminal = true
		return
	}
	t.open = append(t.open, trieNode{to: length, terminal: true})
}

// close completes the open nodes that end after the first shared bytes of the current name, because
// the next name has only these bytes in common with it. The node among them that begins first
// becomes a child of the node that ends exactly after these bytes. If there is no such node, close
// creates it.
func (t *trie) close(shared int) {
	for {
		last := len(t.open) - 1
		node := t.open[last]
		if node.to <= shared {
			return
		}
		t.open = t.open[:last]
		if t.open[last-1].to < shared {
			t.open = append(t.open, trieNode{to: shared})
		}
		parent := &t.open[len(t.open)-1]
		parent.children++
		node.from = parent.to
		t.nodes = append(t.nodes, node)
	}
}

// commonPrefix returns the length in bytes of the common prefix of two strings.
func commonPrefix(a, b string) int {
	const block = 16 // mangled names share long prefixes
	n, i := min(len(a), len(b)), 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// put encodes the trie's nodes. Children are ordered by label, except that an empty label comes
// last, so that lookups can follow the first label that matches.
func (t *trie) put(w *wire.Encoder) {
	next := 0 // index of the first name that passes through the node
	for i := len(t.nodes) - 1; i >= 0; i-- {
		node := &t.nodes[i]
		if node.to > 0 {
			t.makeRoom(w, node.from)
			putLabel(w, t.names[next][node.from:node.to])
		}
		if t.putNode(w, node, next); node.terminal {
			next++
		}
	}
}

// putNode encodes the bitmask of a node and, if a name ends there, the index of the name. It does
// not encode the children. next is the index of the first name that passes through the node.
func (t *trie) putNode(w *wire.Encoder, node *trieNode, next int) {
	children := int(node.children)
	if n := min(children, wire.MaxChildren); node.terminal {
		w.Terminal(n, uint32(next))
	} else {
		w.Node(n)
	}
	if children > wire.MaxChildren {
		t.wide = append(t.wide, wideNode{depth: node.to, left: children, room: wire.MaxChildren - 1})
	}
}

// makeRoom is called before a child of a node is encoded. depth is where the label of the child
// begins in the names. If the node already has as many children as the format allows, makeRoom
// encodes an edge with an empty label, which leads to an additional node for the remaining
// children.
func (t *trie) makeRoom(w *wire.Encoder, depth int) {
	last := len(t.wide) - 1
	if last < 0 || t.wide[last].depth != depth {
		return
	}
	parent := &t.wide[last]
	if parent.room == 0 {
		putLabel(w, "")
		w.Node(min(parent.left, wire.MaxChildren))
		parent.room = parent.left
		if parent.left > wire.MaxChildren {
			parent.room = wire.MaxChildren - 1
		}
	}
	parent.room--
	parent.left--
	if parent.left == 0 {
		t.wide = t.wide[:last]
	}
}

// putLabel encodes the label of an edge. It splits a label that is too long by nodes with one
// child.
func putLabel(w *wire.Encoder, label string) {
	for len(label) > wire.MaxLabel {
		w.Label(label[:wire.MaxLabel])
		w.Node(1)
		label = label[wire.MaxLabel:]
	}
	w.Label(label)
}
