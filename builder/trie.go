package builder

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// stringTable puts the string table section of a unit (RFC 4.3). The index of a string is the place
// of its symbol among the unit's IDs.
func (e *encoder) stringTable(u *symbols) {
	e.section.Uint32(uint32(len(u.byName)))
	t := &e.trie
	t.names, t.indices = t.names[:0], t.indices[:0]
	for _, s := range u.byName {
		t.names = append(t.names, e.profile.SymbolName(s))
		t.indices = append(t.indices, e.ids[s]-e.ids[u.byID[0]])
	}
	t.build()
	t.put(&e.section)
	e.add(afdo.SectionStringTable)
}

// A trie encodes sorted names as a path-compressed trie without ever making a tree: the nodes
// follow from how long the prefixes are that neighbouring names share, and what a string table
// holds is a list of them in pre-order. That takes no recursion, however deep the trie. Reusing a
// trie saves its memory.
type trie struct {
	names   []string // strictly ascending
	indices []uint32 // their string indices

	nodes []trieNode // in reverse pre-order
	open  []trieNode // what build has not finished, from the root downwards
	wide  []wideNode // what put has not finished
}

// A trieNode stands for the bytes from:to of the names that pass through it.
type trieNode struct {
	from, to int
	children int16 // at most one a byte value
	terminal bool  // a name ends here
}

// A wideNode is a node with too many children, some of them still to come.
type wideNode struct {
	depth int // where the labels of its children start
	left  int // children to come
	room  int // how many of them fit before the next empty-label edge
}

// build lists the nodes. It goes through the names backwards: on the way to a name, the nodes that
// the name before it does not pass through have got all their children.
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

// openName adds the node at which a name of some length ends. Unless it is there already, it is
// deeper than all that are open.
func (t *trie) openName(length int) {
	if last := &t.open[len(t.open)-1]; last.to == length {
		last.terminal = true
		return
	}
	t.open = append(t.open, trieNode{to: length, terminal: true})
}

// close lists the open nodes that are deeper than shared. The shallowest of them becomes a child of
// a node of just that depth.
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

// commonPrefix returns the length of the longest common prefix.
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

// put puts the nodes. Children ascend by label, but for the empty label, which comes last, so that
// a lookup which follows the first label that fits stays right.
func (t *trie) put(w *wire.Encoder) {
	next := 0 // the first name that passes through the node
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

// putNode puts a node through which the name next is the first to pass, without its children.
func (t *trie) putNode(w *wire.Encoder, node *trieNode, next int) {
	children := int(node.children)
	if n := min(children, wire.MaxChildren); node.terminal {
		w.Terminal(n, t.indices[next])
	} else {
		w.Node(n)
	}
	if children > wire.MaxChildren {
		t.wide = append(t.wide, wideNode{depth: node.to, left: children, room: wire.MaxChildren - 1})
	}
}

// makeRoom comes before each child, at whose depth the parent ends. If that has too many children
// and the next one does not fit, makeRoom puts an empty label and below it a node that takes the
// rest.
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

// putLabel puts the label of an edge, broken by nodes of one child if it is too long.
func putLabel(w *wire.Encoder, label string) {
	for len(label) > wire.MaxLabel {
		w.Label(label[:wire.MaxLabel])
		w.Node(1)
		label = label[wire.MaxLabel:]
	}
	w.Label(label)
}
