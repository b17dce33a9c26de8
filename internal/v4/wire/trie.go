package wire

import "math"

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

// Node decodes the bitmask of a node and, if a string ends there, the string index.
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

// A TrieFrame is a node with children left to visit.
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
