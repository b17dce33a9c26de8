package symbolize

import (
	"container/heap"
	"slices"
)

// A Code is the code of one function of the binary.
type Code struct {
	Symbol Symbol // the name of what debug info calls this function comes first, if the symbol table has it
	Unit   *Unit
	Spans  []Span // by address, apart; code of which debug info says nothing is left out
}

// A Unit describes the compilation of one source file.
type Unit struct {
	Name     string // path of the source as the compiler was given it
	Dir      string // where it was compiled
	Producer string // the compiler
	Missing  string // path of the split debug info that is not there; then only lines are known
}

// A Span is a stretch of code that comes from one line of one function in one chain of calls.
type Span struct {
	Low, High uint64    // addresses: the first byte's, and the one behind the last
	Instance  *Instance // nil if no function is known
	Line      Line      // in the innermost function
}

// A Line is a place in the source.
type Line struct {
	File          string // path as in the debug info, empty if unknown
	Line          uint32 // 0: the code belongs to no line
	Column        uint32 // only with [Columns]
	Discriminator uint32 // tells apart the blocks of one line; as the compiler has written it
}

// An Instance is a function in the code: one with code of its own, or one copy that is inlined.
// Spans of one copy share their Instance.
type Instance struct {
	Function *Function
	Caller   *Instance // in which this copy is inlined, nil if it is not
	Call     Line      // the place of the call in Caller
}

// Chain returns the functions from the outermost to the innermost.
func (i *Instance) Chain() []*Instance {
	var chain []*Instance
	for ; i != nil; i = i.Caller {
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// A sweep goes through the ranges of a tree by address.
type sweep struct {
	tree   *tree
	ranges []nodeRange // those that begin later
	rows   []row       // the one at hand and later ones
	active nodeHeap
	aside  []nodeRange // those that are of no function that is meant by the symbol at hand
}

// asideCost is what a range counts that is laid aside for a symbol, see reading.spend.
const asideCost = 4

// A nodeHeap holds ranges, that of the latest entry first: entries that come later are inlined in
// those before them.
type nodeHeap []nodeRange

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].node > h[j].node }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)        { *h = append(*h, x.(nodeRange)) }
func (h *nodeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// code returns the spans of a target, and how well the unit fits it.
func (w *worker) code(s *sweep, target Symbol) (code *Code, fit int, err error) {
	if err := w.spend(asideCost * len(s.aside)); err != nil {
		return nil, 0, err
	}
	s.begin(target.Low)
	top, fit, name, err := w.chooseTop(s, target)
	if err != nil {
		return nil, 0, err
	}
	code = &Code{Symbol: target}
	if name > 0 {
		names := slices.Clone(target.Names)
		code.Symbol.Names = slices.Insert(slices.Delete(names, name, name+1), 0, target.Names[name])
	}
	for addr := target.Low; addr < target.High; {
		n, next := s.step(addr, target.High, top)
		span := Span{Low: addr, High: next}
		if len(s.rows) > 0 && s.rows[0].low <= addr {
			r := s.rows[0]
			span.Line = Line{Line: r.line, Column: r.column, Discriminator: r.discrim}
			if span.Line.File, err = w.path(w.current.header, uint64(r.file)); err != nil {
				return nil, 0, err
			}
		}
		if n != noNode {
			if span.Instance, err = w.instance(s.tree, n); err != nil {
				return nil, 0, err
			}
		}
		if addr == target.Low && span.Instance != nil && !w.llvm {
			if f := span.Instance.Chain()[0].Function; slices.Contains(target.Names, f.Linkage()) {
				f.beginAt(span.Line) // and not at that of a cold part
			}
		}
		if err := w.declareActors(span.Instance, target); err != nil {
			return nil, 0, err
		}
		if code.add(span) {
			if err := w.hold(spanCost); err != nil {
				return nil, 0, err
			}
		}
		addr = next
	}
	return code, fit, nil
}

// hasUndeclared tells whether some of the code is of a function that debug info declares nowhere,
// and whose place is not known so far.
func (c *Code) hasUndeclared() bool {
	seen := make(map[*Instance]bool)
	for _, s := range c.Spans {
		for i := s.Instance; i != nil && !seen[i]; i = i.Caller {
			if i.Function.isUndeclared() {
				return true
			}
			seen[i] = true
		}
	}
	return false
}

// add appends a span, or makes the last longer if it is of the same place. It tells whether there
// is one more.
func (c *Code) add(s Span) bool {
	if s.Instance == nil && s.Line == (Line{}) {
		return false
	}
	if n := len(c.Spans) - 1; n >= 0 {
		if last := &c.Spans[n]; last.High == s.Low && last.Instance == s.Instance && last.Line == s.Line {
			last.High = s.High
			return false
		}
	}
	c.Spans = append(c.Spans, s)
	return true
}

// begin drops what lies before an address and takes in the ranges that begin before it.
func (s *sweep) begin(addr uint64) {
	for _, r := range s.aside {
		heap.Push(&s.active, r)
	}
	s.aside = s.aside[:0]
	for len(s.ranges) > 0 && s.ranges[0].low < addr {
		if s.ranges[0].high > addr {
			heap.Push(&s.active, s.ranges[0])
		}
		s.ranges = s.ranges[1:]
	}
}

// step returns the node of an address, and where the stretch of code ends that has the same node
// and row. Functions other than top that begin where top begins are left out, and those that have
// none of the symbol's code: they are in the tree for another symbol.
func (s *sweep) step(addr, end uint64, top *topChoice) (int32, uint64) {
	for len(s.ranges) > 0 && s.ranges[0].low <= addr {
		heap.Push(&s.active, s.ranges[0])
		s.ranges = s.ranges[1:]
	}
	for len(s.active) > 0 && (s.active[0].high <= addr || top.excludes(s.tree, s.tree.nodes[s.active[0].node].top)) {
		if r := heap.Pop(&s.active).(nodeRange); r.high > addr {
			s.aside = append(s.aside, r)
		}
	}
	for len(s.rows) > 0 && s.rows[0].high <= addr {
		s.rows = s.rows[1:]
	}
	next, n := end, int32(noNode)
	if len(s.ranges) > 0 {
		next = min(next, s.ranges[0].low)
	}
	if len(s.active) > 0 {
		n = s.active[0].node
		next = min(next, s.active[0].high)
	}
	if len(s.rows) > 0 {
		if r := s.rows[0]; r.low > addr {
			next = min(next, r.low)
		} else {
			next = min(next, r.high)
		}
	}
	return n, next
}

// A topChoice is which of several functions at one address is meant.
type topChoice struct {
	chosen int32
	others []int32 // sorted
	code   span    // that of the symbol

	last     int32 // the function that was asked for last, and the answer
	excluded bool
}

// excludes tells whether a function is not meant.
func (t *topChoice) excludes(of *tree, top int32) bool {
	if top != t.last {
		_, other := slices.BinarySearch(t.others, top)
		t.last, t.excluded = top, other || !meets(of.tops[top], t.code)
	}
	return t.excluded
}

// How well a unit fits a symbol.
const (
	fitNothing  = iota // it has lines at most
	fitFunction        // a function covers the symbol
	fitName            // and has its name
)

// chooseTop finds which function of the unit a symbol is, among those that begin at its address
// (identical code may be folded): the one of its name, else the first. name is the index of its
// name among the symbol's.
func (w *worker) chooseTop(s *sweep, target Symbol) (choice *topChoice, fit, name int, err error) {
	choice = &topChoice{chosen: noNode, last: noNode, code: span{target.Low, target.High}}
	var tops []int32
	for _, r := range s.ranges {
		if r.low > target.Low {
			break
		}
		if s.tree.nodes[r.node].parent == noNode {
			tops = append(tops, r.node)
		}
	}
	slices.Sort(tops)
	for _, n := range tops {
		f, err := w.function(dieRef{w.current.data, s.tree.nodes[n].entry}, 0)
		if err != nil {
			return choice, 0, 0, err
		}
		if err := w.spend(len(target.Names)); err != nil {
			return choice, 0, 0, err
		}
		at := slices.IndexFunc(target.Names, func(name string) bool { return sameFunction(name, f) })
		if at >= 0 && fit < fitName {
			choice.chosen, fit, name = n, fitName, at
		} else if fit == fitNothing {
			choice.chosen, fit = n, fitFunction
		}
	}
	for _, n := range tops {
		if n != choice.chosen {
			choice.others = append(choice.others, n)
		}
	}
	return choice, fit, name, nil
}

// sameFunction tells whether a symbol is a function or a clone of it.
func sameFunction(symbol string, f *Function) bool {
	linkage := f.Linkage()
	return len(symbol) >= len(linkage) && symbol[:len(linkage)] == linkage &&
		(len(symbol) == len(linkage) || symbol[len(linkage)] == '.')
}

// instance returns the instance of a node, making it and its callers' if need be.
func (w *worker) instance(t *tree, n int32) (*Instance, error) {
	var missing []int32
	for ; n != noNode && t.nodes[n].instance == nil; n = t.nodes[n].parent {
		missing = append(missing, n)
	}
	var caller *Instance
	if n != noNode {
		caller = t.nodes[n].instance
	}
	for _, m := range slices.Backward(missing) {
		x := &t.nodes[m]
		f, err := w.function(dieRef{w.current.data, x.entry}, 0)
		if err != nil {
			return nil, err
		}
		i := &Instance{Function: f, Caller: caller}
		if caller != nil {
			file, err := w.path(w.current.header, uint64(x.file))
			if err != nil {
				return nil, err
			}
			i.Call = Line{File: file, Line: x.line, Discriminator: x.discrim}
			if w.file.columns {
				i.Call.Column = x.column
			}
		}
		x.instance, caller = i, i
	}
	return caller, nil
}
