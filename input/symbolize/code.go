package symbolize

import (
	"container/heap"
	"slices"
)

// A Code describes the code of one function of the binary.
type Code struct {
	Symbol Symbol // if the symbol table has the function's name in debug info, that name comes first
	Unit   *Unit
	Spans  []Span // sorted by address, not overlapping; code without debug info is left out
}

// A Unit is the compilation of one source file.
type Unit struct {
	Name     string // path of the source file as given to the compiler
	Dir      string // directory of the compilation
	Producer string // name and options of the compiler
	Missing  string // path of split debug info that was not found; only lines are known then
}

// A Span is a range of code that comes from one line of one function in one chain of calls.
type Span struct {
	Low, High uint64    // address range; High is exclusive
	Instance  *Instance // nil if the function is unknown
	Line      Line      // line in the innermost function
}

// A Line is a source position.
type Line struct {
	File          string // path as in the debug info, empty if unknown
	Line          uint32 // 0 means that the code belongs to no line
	Column        uint32 // only with [Columns]
	Discriminator uint32 // distinguishes blocks on the same line; as written by the compiler
}

// An Instance is a function in the code: either its own code, or one inlined copy of it. All spans
// of a copy share one Instance.
type Instance struct {
	Function *Function
	Caller   *Instance // instance into which this copy was inlined, or nil
	Call     Line      // position of the call in Caller

	// AtDeclaration means that Call, including its column, is the position of the declaration of
	// Function. No call in a source is there. GCC creates such a call when it splits a function
	// into two parts, and then inlines the second part into the first one.
	AtDeclaration bool
}

// Chain returns the call chain from the outermost function to i.
func (i *Instance) Chain() []*Instance {
	var chain []*Instance
	for ; i != nil; i = i.Caller {
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// A sweep goes through the code of a compilation unit in the order of addresses. At each address it
// finds the innermost function or inlined copy, which is a node of the tree, and the row of the
// line table.
type sweep struct {
	tree   *tree
	ranges []nodeRange // ranges that begin at a later address
	rows   []row       // the current row and later ones
	active nodeHeap
	aside  []nodeRange // ranges of functions that do not belong to the current symbol
}

// asideCost is charged to the budget (see reading.spend) for each range that a sweep has set aside
// because its function does not belong to the symbol.
const asideCost = 4

// A nodeHeap is a heap of address ranges of functions and inlined copies. The range whose entry
// comes last in the debug info is on top, because later entries are inlined into earlier ones.
type nodeHeap struct{ heapSlice[nodeRange] }

func (h nodeHeap) Less(i, j int) bool { return h.heapSlice[i].node > h.heapSlice[j].node }

// code returns the code of the symbol target, as the debug info of the current unit describes it.
// fit says whether the unit has a function at the symbol's address, and whether this function has
// the symbol's name: fitNothing, fitFunction or fitName.
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
				f.beginAt(span.Line) // not at the first line of a cold part
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

// hasUndeclared reports whether the code contains a function that debug info does not declare and
// whose position is still unknown.
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

// add appends a span to the code. If the span before it is adjacent and has the same line and
// inlined calls, add extends that span instead. It reports whether it appended a span.
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

// begin prepares the sweep for the code of a symbol, which begins at addr. It drops the ranges of
// functions that end before addr, and activates those that contain addr.
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

// step returns the node of the tree for an address, which is the innermost function there, or
// noNode. It also returns the first address after addr, at most end, with another node or another
// row of the line table. It ignores functions that top excludes, because they belong to another
// symbol at the same address.
func (s *sweep) step(addr, end uint64, top *topChoice) (int32, uint64) {
	for len(s.ranges) > 0 && s.ranges[0].low <= addr {
		heap.Push(&s.active, s.ranges[0])
		s.ranges = s.ranges[1:]
	}
	for s.active.Len() > 0 && (s.active.heapSlice[0].high <= addr || top.excludes(s.tree, s.tree.nodes[s.active.heapSlice[0].node].top)) {
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
	if s.active.Len() > 0 {
		n = s.active.heapSlice[0].node
		next = min(next, s.active.heapSlice[0].high)
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

// A topChoice records which function of the debug info belongs to a symbol, if several begin at the
// symbol's address.
type topChoice struct {
	chosen int32
	others []int32 // functions that were not chosen, sorted
	code   span    // code of the symbol

	last     int32 // cache for excludes: the last function, and the answer
	excluded bool
}

// excludes reports whether the function with index top in the tree does not belong to the symbol.
func (t *topChoice) excludes(of *tree, top int32) bool {
	if top != t.last {
		_, other := slices.BinarySearch(t.others, top)
		t.last, t.excluded = top, other || !meets(of.tops[top], t.code)
	}
	return t.excluded
}

// How well a unit fits a symbol, in ascending order.
const (
	fitNothing  = iota // the unit has at most lines
	fitFunction        // a function covers the symbol
	fitName            // a function covers the symbol and has its name
)

// chooseTop finds the function of the current unit that belongs to the symbol target. With
// identical code folding, several functions may begin at the symbol's address. Then chooseTop
// prefers the one with the symbol's name, or else takes the first. fit says how well the function
// fits. name is the index of the function's name in target.Names.
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

// sameFunction reports whether a symbol is a function or a clone of it.
func sameFunction(symbol string, f *Function) bool {
	linkage := f.Linkage()
	return len(symbol) >= len(linkage) && symbol[:len(linkage)] == linkage &&
		(len(symbol) == len(linkage) || symbol[len(linkage)] == '.')
}

// instance returns the Instance for a node of the tree, which is a function or an inlined copy. It
// creates the Instances of the node and of its callers if they do not exist yet.
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
			i.AtDeclaration = x.line == f.Line && x.column == f.column && file == f.File
			if w.file.columns {
				i.Call.Column = x.column
			}
		}
		x.instance, caller = i, i
	}
	return caller, nil
}
