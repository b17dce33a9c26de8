package builder

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// symbols holds the symbols of a unit in two orders.
type symbols struct {
	byName []profile.SymbolRef // by ascending name
	byID   []profile.SymbolRef // by ascending ID; IDs are contiguous
}

// collectUnits collects the symbols of all units by name. They are slices of two shared arrays.
func (f *fileLayout) collectUnits() {
	p := f.profile
	f.units = make([]symbols, p.NumUnits())
	sizes := make([]uint32, p.NumUnits())
	for s := range p.NumSymbols() {
		sizes[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	names := make([]profile.SymbolRef, p.NumSymbols())
	ids := make([]profile.SymbolRef, p.NumSymbols())
	for i, n := range sizes {
		f.units[i].byName, names = names[:0:n], names[n:]
		f.units[i].byID, ids = ids[:n:n], ids[n:]
	}
	for s := range p.NumSymbols() {
		u := &f.units[p.SymbolUnit(profile.SymbolRef(s))]
		u.byName = append(u.byName, profile.SymbolRef(s))
	}
	inParallel(len(f.units), func(numbers iter.Seq[int]) {
		for i := range numbers {
			sortByName(p, f.units[i].byName)
		}
	})
}

func sortByName(p *profile.Profile, symbols []profile.SymbolRef) {
	slices.SortFunc(symbols, func(a, b profile.SymbolRef) int {
		return strings.Compare(p.SymbolName(a), p.SymbolName(b))
	})
}

// rankUnits orders the symbols of each unit by ID. It returns the units for the plan.
func (f *fileLayout) rankUnits() []Unit {
	p, uses := f.profile, f.countUses()
	units := make([]Unit, len(f.units))
	for i := range f.units {
		s, u := &f.units[i], &units[i]
		u.Path = p.UnitPath(profile.UnitRef(i))
		u.Uses = make([]uint32, 0, len(s.byName))
		for _, ref := range s.byName {
			u.Uses = append(u.Uses, uses[ref])
			u.NameBytes += uint64(len(p.SymbolName(ref)))
			if fn := p.Function(ref); fn != nil {
				u.Functions++
				u.Records += uint64(len(fn.Records))
			}
		}
		s.byID = s.byID[:len(s.byName)]
		for place, at := range Rank(u.Uses) {
			s.byID[place] = s.byName[at]
		}
		for place, ref := range s.byID {
			u.Uses[place] = uses[ref]
		}
	}
	return units
}

// countUses counts the references to each symbol in location records.
func (f *fileLayout) countUses() []uint32 {
	uses := make([]uint32, len(f.ids))
	for _, fn := range f.profile.Functions() {
		for i := range fn.Records {
			if r := &fn.Records[i]; r.Kind != profile.KindCount {
				uses[r.Callee]++
			}
		}
	}
	return uses
}

// checkPath rejects paths that cannot be stored (format note 8).
func checkPath(path string) error {
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("builder: unit %q: %w: a path cannot hold a NUL", path, afdo.ErrUnrepresentable)
	}
	return checkPathLen(uint64(len(path)))
}

// checkPathLen rejects a path whose length, including the terminating NUL, exceeds 32 bits.
func checkPathLen(n uint64) error {
	if n >= math.MaxUint32 {
		return fmt.Errorf("builder: %w: a path of %d bytes", afdo.ErrUnrepresentable, n)
	}
	return nil
}

// unit encodes the sections of a unit. section is the index of the first one.
func (e *encoder) unit(s *symbols, section uint32) error {
	e.stringTable(s)
	e.symbolNames(s, section)
	return e.symbolInfos(s)
}

// symbolNames encodes the symbol names section of a unit (RFC 4.6). Rows are ordered by ID. A
// symbol's row number and its position among the unit's IDs are the same number, so a reader that
// looks at the expected row finds the symbol at once.
func (e *encoder) symbolNames(u *symbols, stringTable uint32) {
	e.section.Uint32(uint32(len(u.byID)))
	info := stringTable + unitSections // the infos directly follow
	e.strings = slices.Grow(e.strings[:0], len(u.byID))[:len(u.byID)]
	for i, s := range u.byName {
		e.strings[e.ids[s]-e.ids[u.byID[0]]] = uint32(i)
	}
	for i, s := range u.byID {
		row := wire.Row{String: e.strings[i], ID: e.ids[s], Info: wire.NoInfo}
		if e.profile.Function(s) != nil {
			row.Info = info
			info++
		}
		e.section.Row(row)
	}
	e.add(afdo.SectionSymbolNames)
}

// symbolInfos encodes a symbol info section (RFC 4.7) for each function of a unit, by ascending ID.
func (e *encoder) symbolInfos(u *symbols) error {
	for _, s := range u.byID {
		fn := e.profile.Function(s)
		if fn == nil {
			continue
		}
		e.section.Info(fn.HeadCount, fn.Timestamp)
		if err := e.records(fn.Records); err != nil {
			return fmt.Errorf("builder: unit %q, symbol %q: %w",
				e.profile.UnitPath(e.profile.SymbolUnit(s)), e.profile.SymbolName(s), err)
		}
		e.add(afdo.SectionSymbolInfo)
	}
	return nil
}

// errNotCanonical is the error for records that did not come from a [profile.Body].
var errNotCanonical = errors.New("its records are not canonical")

// A nest holds the state for encoding nested bodies without recursion.
type nest struct {
	spans     stack.Stack[span]
	inlinings []inlining
	targets   []target
}

// A span is a range of siblings, including nested records, that has not been encoded yet.
type span struct{ next, end int }

// An inlining is one of several functions inlined at the same place.
type inlining struct {
	callee uint32 // symbol ID of the callee
	span
}

// A target is one callee of a call record.
type target struct {
	callee uint32 // symbol ID of the callee
	count  uint64
}

// records encodes the number of locations of a function and the locations (RFC 4.7, 4.8), in one
// pass.
func (e *encoder) records(records []profile.Record) error {
	here := span{0, len(records)}
	n, err := numLocations(records)
	if err != nil {
		return err
	}
	e.section.Uint32(n)
	for {
		for here.next == here.end {
			if e.nest.spans.Empty() {
				return nil
			}
			here = e.nest.spans.Pop()
		}
		r := &records[here.next]
		switch r.Kind {
		case profile.KindCount:
			e.location(r, wire.Location{Type: wire.CountType(r.Count), Count: r.Count})
			here.next++
		case profile.KindCall:
			n := callsAt(records[here.next:here.end])
			e.calls(records[here.next : here.next+n])
			here.next += n
		case profile.KindInlined:
			nested := span{here.next + 1, here.next + 1 + int(r.Count)}
			if nested.end < here.end && samePlace(r, &records[nested.end]) {
				e.spreadInlinings(records, here)
				here.next = here.end
				continue
			}
			n, err := numLocations(records[nested.next:nested.end])
			if err != nil {
				return err
			}
			e.location(r, wire.Location{Type: wire.InlinedFn, Callee: e.ids[r.Callee], NumLocations: n})
			if nested.end < here.end {
				e.nest.spans.Push(span{nested.end, here.end})
			}
			here = nested
		}
	}
}

// numLocations checks the siblings of a body and returns the number of locations that they form. It
// is called for each body and skips nested records, so every record is visited once in total.
func numLocations(records []profile.Record) (uint32, error) {
	n := uint64(0)
	for i := 0; i < len(records); n++ {
		r := &records[i]
		if err := checkPlace(r); err != nil {
			return 0, err
		}
		switch r.Kind {
		case profile.KindCount:
			i++
		case profile.KindCall:
			calls := callsAt(records[i:])
			if err := checkNumber("call targets", uint64(calls)); err != nil {
				return 0, err
			}
			i += calls
		case profile.KindInlined:
			if r.Count > uint64(len(records)-i-1) {
				return 0, fmt.Errorf("%w: line offset %d: an inlined body extends beyond its parent", errNotCanonical, r.Line)
			}
			i += 1 + int(r.Count)
		default:
			return 0, fmt.Errorf("%w: line offset %d: kind %d", errNotCanonical, r.Line, r.Kind)
		}
	}
	if err := checkNumber("locations", n); err != nil {
		return 0, err
	}
	return uint32(n), nil
}

// checkPlace rejects lines and discriminators that do not fit their fields (format note 17).
func checkPlace(r *profile.Record) error {
	if r.Line > wire.MaxLine {
		return fmt.Errorf("%w: line offset %d does not fit 24 bits", afdo.ErrUnrepresentable, r.Line)
	}
	if r.Discriminator > wire.MaxDiscriminator {
		return fmt.Errorf("%w: line offset %d: discriminator %d does not fit 16 bits", afdo.ErrUnrepresentable, r.Line, r.Discriminator)
	}
	return nil
}

// checkNumber rejects numbers of more than 32 bits.
func checkNumber(what string, n uint64) error {
	if n > math.MaxUint32 {
		return fmt.Errorf("%w: %d %s in one place do not fit 32 bits", afdo.ErrUnrepresentable, n, what)
	}
	return nil
}

func samePlace(a, b *profile.Record) bool {
	return a.Kind == b.Kind && a.Line == b.Line && a.Discriminator == b.Discriminator
}

// callsAt returns the number of calls at the place of the first record, which is a call.
func callsAt(records []profile.Record) int {
	n := 1
	for n < len(records) && samePlace(&records[0], &records[n]) {
		n++
	}
	return n
}

// location encodes l at the place of a record.
func (e *encoder) location(r *profile.Record, l wire.Location) {
	l.Line, l.Discriminator = r.Line, r.Discriminator
	e.section.Location(&l)
}

// calls encodes the call targets at one place, by ascending ID.
func (e *encoder) calls(calls []profile.Record) {
	if len(calls) == 1 {
		e.location(&calls[0], wire.Location{Type: wire.CalledFn})
		e.section.Target(e.ids[calls[0].Callee], calls[0].Count)
		return
	}
	e.nest.targets = e.nest.targets[:0]
	for i := range calls {
		e.nest.targets = append(e.nest.targets, target{e.ids[calls[i].Callee], calls[i].Count})
	}
	slices.SortFunc(e.nest.targets, func(a, b target) int { return cmp.Compare(a.callee, b.callee) })
	e.location(&calls[0], wire.Location{Type: wire.CalledFns, NumTargets: uint32(len(calls))})
	for _, t := range e.nest.targets {
		e.section.Target(t.callee, t.count)
	}
}

// spreadInlinings handles several functions inlined at the same place. They are ordered by
// SymbolRef but have to be encoded by ID. So it pushes a span for each of them, the lowest ID last,
// on top of a span for the siblings after them.
func (e *encoder) spreadInlinings(records []profile.Record, siblings span) {
	first := &records[siblings.next]
	e.nest.inlinings = e.nest.inlinings[:0]
	for siblings.next < siblings.end {
		r := &records[siblings.next]
		if !samePlace(first, r) {
			break
		}
		end := siblings.next + 1 + int(r.Count)
		e.nest.inlinings = append(e.nest.inlinings, inlining{e.ids[r.Callee], span{siblings.next, end}})
		siblings.next = end
	}
	slices.SortFunc(e.nest.inlinings, func(a, b inlining) int { return cmp.Compare(b.callee, a.callee) })
	e.nest.spans.Push(siblings)
	for _, in := range e.nest.inlinings {
		e.nest.spans.Push(in.span)
	}
}

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

// A trieNode represents the bytes from:to of the names that pass through it.
type trieNode struct {
	from, to int
	children int16 // at most one per byte value
	terminal bool  // a name ends here
}

// A wideNode is a node with more children than a node can hold, not all of which have been encoded.
type wideNode struct {
	depth int // start of the labels of its children
	left  int // children not yet encoded
	room  int // how many children fit before the next edge with an empty label
}

// build computes the nodes. It visits the names in reverse order. When it reaches a name, the nodes
// through which the previous name does not pass are complete.
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

// openName adds the node at which a name of the given length ends. A new node is deeper than all
// open nodes.
func (t *trie) openName(length int) {
	if last := &t.open[len(t.open)-1]; last.to == length {
		last.terminal = true
		return
	}
	t.open = append(t.open, trieNode{to: length, terminal: true})
}

// close completes the open nodes that are deeper than shared. The shallowest of them becomes a
// child of a node with exactly that depth.
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

// put encodes the nodes. Children are ordered by label, except that an empty label comes last, so
// that lookups can follow the first label that matches.
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

// putNode encodes a node without its children. next is the first name that passes through the node.
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

// makeRoom is called before each child. If the parent, which ends at depth, is full, makeRoom
// encodes an edge with an empty label to a node that takes the remaining children.
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
