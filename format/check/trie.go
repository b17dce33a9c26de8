package check

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A trieChecker checks a string table, which is stored as a trie. It does not expand the strings,
// because they may be a thousand times as long as the table.
type trieChecker struct {
	wire.Trie
	sec      afdo.Section
	k        *checker
	root     int
	found    wire.IndexSet // string indexes found so far
	missing  int           // number of string indexes not found yet
	names    int           // total length of the strings
	limited  bool          // exceeding the limit on names has been reported
	overlong bool
	firsts   []wire.BitSet // for each node on the path: the first bytes of its children's labels
	odd      bool          // two paths may spell the same string, see duplicates
}

// trie checks a string table and returns what it has found out about the table's strings.
func (k *checker) trie(f fields) stringTable {
	start := f
	n := f.StringCount()
	if f.Err != nil {
		k.fault(f.err())
		return stringTable{count: -1}
	}
	k.overlong(&f, 1, wire.VarintLen(uint64(n)), new(bool))
	c := trieChecker{Trie: wire.Trie{Fields: &f.Fields}, sec: f.sec, k: k, root: f.Pos, found: wire.NewIndexSet(n, n), missing: n}
	c.run(n)
	if k.end(&f) && c.missing > 0 {
		k.fault(faultAt(f.sec, f.Pos, afdo.ErrTrie, "%d of %d strings are missing", c.missing, n))
	}
	if c.odd && f.Err == nil {
		k.duplicates(start)
	}
	return stringTable{n, c.names}
}

func (c *trieChecker) run(n int) {
	for ok := true; ok && c.Err == nil && !c.k.stopped; ok = c.child() {
		pos := c.Pos
		children, terminal, id := c.Node()
		if c.Err != nil {
			return
		}
		least := 1
		if terminal {
			least += wire.VarintLen(id)
			c.terminal(pos, id, n)
		} else if children == 0 && pos != c.root {
			c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "a leaf at which no string ends"))
		}
		c.k.overlong(&fields{c.sec, *c.Fields}, pos, least, &c.overlong)
		c.descend(children)
	}
}

// terminal checks a node of the trie at which a string ends. id is the index of that string, and n
// is the number of strings in the table. pos is the position of the node.
func (c *trieChecker) terminal(pos int, id uint32, n int) {
	switch {
	case uint64(id) >= uint64(n):
		c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "string index %d, but the table has %d strings", id, n))
	case c.found.Add(id):
		c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "duplicate string index %d", id))
	default:
		c.missing--
	}
	limit := c.k.maxNameBytes()
	if c.Prefix > limit-c.names && !c.limited {
		c.limited = true
		c.k.fault(faultAt(c.sec, pos, afdo.ErrLimit, "the names of the unit exceed %d bytes, see afdo.MaxNameBytes", limit))
	}
	if !c.limited {
		c.names += c.Prefix
	}
}

func (c *trieChecker) descend(children int) {
	c.Trie.Descend(children)
	switch depth := len(c.Frames); {
	case depth > len(c.firsts):
		c.firsts = append(c.firsts, wire.NewBitSet(256))
	case children > 0:
		clear(c.firsts[depth-1])
	}
}

// child moves to the next child of the current node. It returns false if there are none left or the
// table is malformed.
func (c *trieChecker) child() bool {
	pos, depth := c.Pos, len(c.Frames)
	_, label, ok := c.Trie.Child()
	if !ok {
		return false
	}
	if len(label) == 0 || c.firsts[depth-1].Has(uint32(label[0])) {
		c.odd = true
	} else {
		c.firsts[depth-1].Add(uint32(label[0]))
	}
	c.k.overlong(&fields{c.sec, *c.Fields}, pos, wire.VarintLen(uint64(len(label)))+len(label), &c.overlong)
	return true
}

// duplicates searches a string table for a string that occurs twice. A trie of the file may have
// several paths for the same bytes. duplicates follows all paths and gives equal beginnings the
// same state, so two equal strings end in the same state.
func (k *checker) duplicates(f fields) {
	f.StringCount()
	t := wire.Trie{Fields: &f.Fields}
	next := map[uint64]uint64{} // by state and byte
	ends := map[uint64]bool{}   // states at which a string ends
	var states []uint64         // for each node on the path: state of its parent
	var name []byte
	state := uint64(0)
	for ok := true; ok && !k.stopped; {
		pos := f.Pos
		children, terminal, _ := f.Node()
		if terminal && ends[state] {
			k.fault(faultAt(f.sec, pos, afdo.ErrTrie, "duplicate string %.100q", name))
		} else if terminal {
			ends[state] = true
		}
		if t.Descend(children); children > 0 {
			states = append(states[:len(t.Frames)-1], state)
		}
		depth := len(t.Frames)
		var parent int
		var label []byte
		if parent, label, ok = t.Child(); !ok {
			return
		}
		name = append(name[:parent], label...)
		state = states[depth-1]
		for _, b := range label {
			step := state<<8 | uint64(b)
			if state = next[step]; state == 0 {
				state = uint64(len(next)) + 1
				next[step] = state
			}
		}
	}
}
