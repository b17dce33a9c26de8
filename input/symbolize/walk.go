package symbolize

import (
	"cmp"
	"container/heap"
	"debug/dwarf"
	"slices"
	"sync"
)

// A tree contains the requested functions of a compilation unit, and the functions inlined into
// them, as debug info nests them.
type tree struct {
	nodes  []node
	ranges []nodeRange      // by address
	tops   map[int32][]span // code of each function that is not an inlined copy, sorted by address
}

// A node of a tree is a function, or a copy of a function that was inlined into the parent node.
type node struct {
	entry    uint64    // offset of the debugging information entry
	instance *Instance // created when first needed, else nil
	parent   int32     // index of the node into which the copy was inlined; noNode for a function
	top      int32     // index of the function into which the copy was inlined, directly or not
	file     uint32    // file number of the call; the next fields complete the position of the call
	line     uint32
	column   uint32
	discrim  uint32
}

type nodeRange struct {
	low, high uint64
	node      int32
}

// noNode is an index that means no node: the entry has no parent, or its code was not requested.
const noNode = -1

// A worker resolves symbols in one compilation unit after another. Each worker runs in a goroutine
// of its own.
type worker struct {
	reading
	file      *File
	units     map[dieRef]*dwarfUnit // units to which entries refer, cached
	functions map[dieRef]*Function  // functions whose entries were read, cached

	header     *lineHeader // the header read last
	held       int         // budget charged for the current unit's data in memory
	undeclared bool        // debug info does not declare some of functions

	current  *dwarfUnit  // the unit being read
	llvm     bool        // compiled by LLVM, for which undeclared functions begin at line 0
	bytes    []byte      // contents of current
	abbrevs  abbrevTable // abbreviations of current
	tree     tree        // of current
	unitBuf  []byte
	lineBuf  []byte
	sequence []row
	rows     []row // of current
	spans    []span
	names    map[string]string // strings returned by intern
}

// unitCursor returns a cursor at the start of the current unit.
func (w *worker) unitCursor() *cursor {
	s := w.current.data.info
	return newCursor(w.bytes, w.current.span.off, s)
}

// enter reads a compilation unit into memory and makes it the worker's current unit.
func (w *worker) enter(u *dwarfUnit) (err error) {
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

// Budgets in bytes for a unit's nodes, ranges, rows and spans in memory, see worker.hold.
const (
	nodeCost      = 128 // includes the Instance
	nodeRangeCost = 64
	rowCost       = 128
	spanCost      = 96
)

// hold charges n bytes to the query's memory budget, for data of the current unit. leave returns
// them to the budget when the unit is done.
func (w *worker) hold(n int) error {
	w.held += n
	return w.spend(n)
}

// leave returns the bytes that hold has charged for the current unit to the query's memory budget.
func (w *worker) leave() {
	_ = w.spend(-w.held)
	w.held, w.current = 0, nil
}

// walk reads all entries of the current unit once and builds the tree of the functions whose code
// overlaps targets.
func (w *worker) walk(targets []span) (*tree, error) {
	u := w.current
	c := w.unitCursor()
	t := &w.tree
	clear(t.nodes)
	*t = tree{t.nodes[:0], t.ranges[:0], make(map[int32][]span)}
	var e dwarfEntry
	err := eachEntry(c, u, int32(noNode), func(off uint64, a *abbrev, outer int32) (int32, error) {
		if a.tag != dwarf.TagSubprogram && (a.tag != dwarf.TagInlinedSubroutine || outer == noNode) {
			c.skipEntry(a, u.encoding)
			return outer, nil
		}
		e.off = off
		if c.entry(&e, a, u.encoding); c.Err != nil {
			return noNode, c.err()
		}
		return w.node(t, &e, outer, targets)
	})
	slices.SortStableFunc(t.ranges, func(a, b nodeRange) int { return cmp.Compare(a.low, b.low) })
	return t, err
}

// node adds the function or inlined copy that entry e describes to the tree. parent is the index of
// the parent node, or noNode. It adds a function only if its code overlaps targets. It returns the
// index of the new node, or noNode.
func (w *worker) node(t *tree, e *dwarfEntry, parent int32, targets []span) (int32, error) {
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
		t.tops[n] = disjoint(w.spans)
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

// A job is a compilation unit that a worker has to read, with the symbols to be resolved in it.
type job struct {
	unit     unitSpan
	number   int     // position of the unit in the file
	symbols  []int32 // indices of the symbols
	unlisted bool    // the unit does not list its addresses, so its symbols are unknown
}

// A queue contains the jobs that no worker has taken yet. Workers take the job with the largest
// compilation unit first, so that no long job is left when all others are done.
type queue struct {
	mu    sync.Mutex
	more  sync.Cond
	jobs  jobHeap
	ended bool
}

func (q *queue) add(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	heap.Push(&q.jobs, j)
	q.more.Signal()
}

// end declares that no more jobs will be added to the queue.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Broadcast()
}

// take waits for a job and removes it from the queue. It returns false if the queue is empty and
// has ended.
func (q *queue) take() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.jobs.Len() == 0 && !q.ended {
		q.more.Wait()
	}
	if q.jobs.Len() == 0 {
		return job{}, false
	}
	return heap.Pop(&q.jobs).(job), true
}

// A jobHeap is a heap (package container/heap) of jobs with the largest unit on top.
type jobHeap struct{ heapSlice[job] }

func (h jobHeap) Less(i, j int) bool { return h.heapSlice[i].size() > h.heapSlice[j].size() }

func (j job) size() uint64 { return j.unit.end - j.unit.off }

// A heapSlice implements heap.Interface (package container/heap) except for Less.
type heapSlice[T any] []T

func (h heapSlice[T]) Len() int      { return len(h) }
func (h heapSlice[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heapSlice[T]) Push(x any)   { *h = append(*h, x.(T)) }
func (h *heapSlice[T]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
