package memprof

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// wordSize is the size in bytes of a word in the array of call stacks in versions 3 and 4. A stack
// ID is an index into this array. The word at the index is the number of frames. The next words are
// indexes of frames, leaf first. A negative word -n is a jump: the rest of the stack is n words
// later, shared with another stack.

const wordSize = 4

// word returns word i of the call stacks.
func (r *Reader) word(i int) uint32 {
	return binary.LittleEndian.Uint32(r.stacks.Data[i*wordSize:])
}

// stackFault returns an error about word i.
func (r *Reader) stackFault(i int, class error, format string, args ...any) error {
	return faultAt(partCallStacks, r.stacks.base+int64(i)*wordSize, class, format, args...)
}

// radixFrames implements Frames for versions 3 and 4.
func (r *Reader) radixFrames(id StackID) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		words := len(r.stacks.Data) / wordSize
		if id >= StackID(words) {
			yield(Frame{}, r.stackFault(0, ErrOffset, "call stack %d of an array of %d words", id, words))
			return
		}
		i := int(id)
		n := r.word(i)
		if n > uint32(words) {
			yield(Frame{}, r.stackFault(i, fault.ErrCount, "a call stack of %d frames in an array of %d words", n, words))
			return
		}
		for i++; n > 0; n, i = n-1, i+1 {
			f, next, err := r.radixFrame(i, words)
			if err != nil {
				yield(Frame{}, err)
				return
			}
			if !yield(f, nil) {
				return
			}
			i = next
		}
	}
}

// radixFrame returns the frame at word i, and the index of the word that holds it. It follows a
// jump.
func (r *Reader) radixFrame(i, words int) (Frame, int, error) {
	if i >= words {
		return Frame{}, 0, r.stackFault(i, fault.ErrTruncated, "a call stack reaches past the end of the array")
	}
	v := int32(r.word(i))
	if v < 0 {
		jump := -int64(v)
		if jump >= int64(words-i) {
			return Frame{}, 0, r.stackFault(i, ErrOffset, "a jump of %d words, %d are left", jump, words-i)
		}
		from := i
		i += int(jump)
		if v = int32(r.word(i)); v < 0 {
			return Frame{}, 0, r.stackFault(from, ErrOffset, "a jump that leads to another")
		}
	}
	if int(v) >= len(r.frames.Data)/frameSize {
		return Frame{}, 0, r.stackFault(i, ErrOffset, "frame %d of %d", v, len(r.frames.Data)/frameSize)
	}
	d := r.frames
	d.Pos = int(v) * frameSize
	return d.frame(), i, nil
}

// radix lays out the words of call stacks. It adds stacks in pre-order of their tree and stores the
// words in reverse, so that a shared part ends up after the stacks that jump to it.
type radix struct {
	words  []uint32       // in reverse order; jumps as distances
	places map[uint32]int // index in words of the frame count of each stack, by node
	path   []int          // index in words of the frame at each depth of the previous stack, as far as it is shared
}

// add appends the stack that ends in node. path lists its frames from the root.
func (x *radix) add(node uint32, path []uint32) {
	shared := len(x.path)
	if shared > 0 {
		x.words = append(x.words, -uint32(len(x.words)-x.path[shared-1]))
	}
	for _, frame := range path[shared:] {
		x.path = append(x.path, len(x.words))
		x.words = append(x.words, frame)
	}
	x.places[node] = len(x.words)
	x.words = append(x.words, uint32(len(path)))
}

// radix lays out the stacks that end in the given nodes.
func (t *stackTree) radix(used map[uint32]struct{}) *radix {
	x := &radix{places: make(map[uint32]int, len(used))}
	path := make([]uint32, 0, 64)
	if _, end := used[0]; end { // the empty stack comes first
		x.add(0, nil)
	}
	for node := range t.preorder() {
		depth := int(t.nodes[node].depth)
		path = append(path[:depth-1], t.nodes[node].frame)
		x.path = x.path[:min(len(x.path), depth-1)]
		if _, end := used[node]; end {
			x.add(node, path)
		}
	}
	return x
}

// id returns the ID of the stack that ends in node.
func (x *radix) id(node uint32) StackID { return StackID(len(x.words) - 1 - x.places[node]) }

// stacks appends the words of x. It is an error if there are too many to index.
func (e *encoder) stacks(x *radix) error {
	if len(x.words) > math.MaxInt32 {
		return unrepresentable("call stacks of %d words", len(x.words))
	}
	for i := len(x.words) - 1; i >= 0; i-- {
		e.u32(x.words[i])
	}
	return nil
}

// A stackTree stores call stacks as a tree that grows from the root frames, so that stacks share
// their outer frames. A stack is identified by the node of its leaf. Node 0 is the empty stack.
type stackTree struct {
	frames   []Frame
	frameIDs map[Frame]uint32
	nodes    []stackNode
	children map[stackEdge]uint32
}

type stackNode struct {
	parent, frame, depth uint32
}

type stackEdge struct {
	parent, frame uint32
}

func (t *stackTree) init() {
	if t.nodes == nil {
		t.frameIDs = make(map[Frame]uint32)
		t.nodes = make([]stackNode, 1)
		t.children = make(map[stackEdge]uint32)
	}
}

// add returns the node of the stack with these frames, leaf first.
func (t *stackTree) add(frames []Frame) uint32 {
	t.init()
	var node uint32
	for _, f := range slices.Backward(frames) {
		id, ok := t.frameIDs[f]
		if !ok {
			id = uint32(len(t.frames))
			t.frames = append(t.frames, f)
			t.frameIDs[f] = id
		}
		edge := stackEdge{node, id}
		child, ok := t.children[edge]
		if !ok {
			child = uint32(len(t.nodes))
			t.nodes = append(t.nodes, stackNode{parent: node, frame: id, depth: t.nodes[node].depth + 1})
			t.children[edge] = child
		}
		node = child
	}
	return node
}

// walk iterates over the frames of the stack that ends in node, leaf first.
func (t *stackTree) walk(node uint32) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for ; node != 0; node = t.nodes[node].parent {
			if !yield(t.frames[t.nodes[node].frame]) {
				return
			}
		}
	}
}

// preorder iterates over all nodes except node 0, parents before children.
func (t *stackTree) preorder() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		first := make([]uint32, len(t.nodes)) // first child of each node
		next := make([]uint32, len(t.nodes))  // next sibling of each node
		for i := len(t.nodes) - 1; i > 0; i-- {
			parent := t.nodes[i].parent
			next[i], first[parent] = first[parent], uint32(i)
		}
		if len(t.nodes) == 0 || first[0] == 0 {
			return
		}
		for open := []uint32{first[0]}; len(open) > 0; {
			node := open[len(open)-1]
			open = open[:len(open)-1]
			if !yield(node) {
				return
			}
			if next[node] != 0 {
				open = append(open, next[node])
			}
			if first[node] != 0 {
				open = append(open, first[node])
			}
		}
	}
}

// A Source is a profile that can be printed, merged and written: a [Reader] or a [Profile].
type Source interface {
	// Schema returns the fields of each block. The caller must not change it.
	Schema() Schema

	// Records iterates over the records of all functions. An error ends the iteration.
	Records() iter.Seq2[Record, error]

	// Frames iterates over the frames of a call stack, leaf first. An error ends the iteration.
	Frames(StackID) iter.Seq2[Frame, error]

	// Summary returns the stored summary, or computes it from all records.
	Summary() (*Summary, error)

	// DataAccess returns the data access profile, nil if there is none. The caller must not change
	// it.
	DataAccess() (*DataAccess, error)

	maxFrames() int64 // limit on the frames of a walk over all records
}

// A walk reads the call stacks of all records of a source. It limits the number of frames, because
// a few bytes can encode many.
type walk struct {
	src  Source
	left int64
	buf  []byte
}

func newWalk(src Source) *walk { return &walk{src: src, left: src.maxFrames()} }

// frames calls each with every frame of a call stack, leaf first.
func (w *walk) frames(id StackID, each func(Frame)) error {
	for f, err := range w.src.Frames(id) {
		if err != nil {
			return err
		}
		if w.left--; w.left < 0 {
			return tooManyFrames(w.src.maxFrames())
		}
		each(f)
	}
	return nil
}

func tooManyFrames(limit int64) error {
	return faultAt(partCallStacks, -1, fault.ErrLimit, "all call stacks together have more than %d frames", limit)
}
