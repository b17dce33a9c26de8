package symbolize

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// A tree is the functions of a unit that hold code that is asked for, and what is inlined in them.
type tree struct {
	nodes  []node
	ranges []nodeRange      // by address
	tops   map[int32][]span // the code of functions that are not inlined, by address
}

// A node is a function, or a copy of one that is inlined in the node of its parent.
type node struct {
	entry    uint64    // offset
	instance *Instance // once used
	parent   int32     // -1 if none
	top      int32     // the function it is in
	file     uint32    // of the call
	line     uint32
	column   uint32
	discrim  uint32
}

type nodeRange struct {
	low, high uint64
	node      int32
}

// noNode stands for code that is not asked for.
const noNode = -1

// A worker answers for one unit after the other.
type worker struct {
	reading
	file      *File
	units     map[dieRef]*unit     // others that entries refer to
	functions map[dieRef]*Function // those found lately

	header     *lineHeader // the one that was read last
	held       int         // what the current unit counts for what is in memory of it
	undeclared bool        // some of them were not declared

	current  *unit       // the unit that is walked
	llvm     bool        // its compiler is one of LLVM: what it does not declare begins at line 0
	bytes    []byte      // of current
	abbrevs  abbrevTable // of current
	unitBuf  []byte
	lineBuf  []byte
	sequence []row
	spans    []span
}

// unitCursor returns a cursor at the start of the current unit.
func (w *worker) unitCursor() *cursor {
	s := w.current.data.info
	return newCursor(w.bytes, w.current.span.off, s)
}

// enter reads a unit into memory.
func (w *worker) enter(u *unit) (err error) {
	if u.table, err = w.readAbbrevs(&w.abbrevs, u.data.abbrev, u.abbrevs, u.encoding, 0); err != nil {
		return err
	}
	w.bytes, err = w.copy(u.data.info, u.span.off, u.span.end-u.span.off, w.unitBuf)
	if err != nil {
		return err
	}
	if u.data.info.data == nil {
		w.unitBuf = w.bytes
	}
	w.current = u
	return nil
}

// What things of a unit count as long as they are in memory: those that follow from few bytes of
// it.
const (
	nodeCost      = 128 // of which an Instance is a part
	nodeRangeCost = 64
	rowCost       = 128
	spanCost      = 96
)

// hold counts what is in memory until the unit is done.
func (w *worker) hold(n int) error {
	w.held += n
	return w.spend(n)
}

// leave gives back what the unit held.
func (w *worker) leave() {
	_ = w.spend(-w.held)
	w.held, w.current = 0, nil
}

// walk goes through all entries of the current unit once.
func (w *worker) walk(targets []span) (*tree, error) {
	u := w.current
	c := w.unitCursor()
	c.Pos = int(u.entries - u.span.off)
	t := &tree{tops: make(map[int32][]span)}
	within := []int32{noNode} // for each level of entries, the node that they are in
	var e entry
	for c.Pos < len(c.Data) {
		e.off = c.offset()
		code := c.ULEB()
		if code == 0 {
			if len(within) == 1 {
				continue // padding at the end
			}
			within = within[:len(within)-1]
			continue
		}
		a := u.table.lookup(code)
		if a == nil {
			if c.Err == nil {
				c.fail(ErrAbbrev, "code %d is not in the table at offset %d", code, u.abbrevs)
			}
			return nil, c.err()
		}
		at := within[len(within)-1]
		if a.tag == dwarf.TagSubprogram || a.tag == dwarf.TagInlinedSubroutine && at != noNode {
			c.entry(&e, a, u.encoding)
			if c.Err != nil {
				return nil, c.err()
			}
			next, err := w.node(t, &e, at, targets)
			if err != nil {
				return nil, err
			}
			at = next
		} else {
			c.skipEntry(a, u.encoding)
		}
		if a.children {
			within = append(within, at)
		}
	}
	slices.SortStableFunc(t.ranges, func(a, b nodeRange) int { return cmp.Compare(a.low, b.low) })
	return t, c.err()
}

// node adds a function or an inlined copy to the tree, if it has code that is asked for.
func (w *worker) node(t *tree, e *entry, parent int32, targets []span) (int32, error) {
	var err error
	w.spans, err = w.ranges(w.file, w.current, e, w.spans[:0])
	if err != nil {
		return noNode, err
	}
	if e.tag == dwarf.TagSubprogram {
		parent = noNode
		if !slices.ContainsFunc(w.spans, func(s span) bool { return meets(targets, s) }) {
			return noNode, nil
		}
	}
	if err := w.hold(nodeCost + nodeRangeCost*len(w.spans)); err != nil {
		return noNode, err
	}
	n := int32(len(t.nodes))
	top := n
	if parent != noNode {
		top = t.nodes[parent].top
	} else {
		t.tops[n] = apart(w.spans)
	}
	t.nodes = append(t.nodes, node{
		entry: e.off, parent: parent, top: top,
		file: uint32(e.number(slotCallFile)), line: uint32(e.number(slotCallLine)), column: uint32(e.number(slotCallColumn)), discrim: uint32(e.number(slotDiscriminator)),
	})
	for _, s := range w.spans {
		t.ranges = append(t.ranges, nodeRange{s.low, s.high, n})
	}
	return n, nil
}
