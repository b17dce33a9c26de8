package memprof

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
)

// Call stacks of versions 3 and 4 are an array of words. A stack's ID is an index into
// it: there stands the number of its frames, and after that the frames, leaf first,
// as indices. Where a word is negative, what remains of the stack is
// what stands so many words later, shared with another stack.

const wordSize = 4

// word returns word i of the call stacks.
func (r *Reader) word(i int) uint32 {
	return binary.LittleEndian.Uint32(r.stacks.Data[i*wordSize:])
}

// stackFault makes an error about word i.
func (r *Reader) stackFault(i int, class error, format string, args ...any) error {
	return faultAt(partCallStacks, r.stacks.base+int64(i)*wordSize, class, format, args...)
}

// radixFrames walks a call stack of version 3 or 4.
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

// radixFrame returns the frame at or, after a jump, behind word i, and the place of its word.
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

// radix writes the words of call stacks in the order of a walk through their tree,
// backwards: so what is shared stands behind what shares it.
type radix struct {
	words  []uint32       // in reverse; jumps as distances
	places map[uint32]int // of the number of frames of each stack, in words, by node
	path   []int          // place of the frame at each depth, as far as it has been written
}

// add appends the stack that ends in the node, whose frames are path from the root on.
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

// radix lays out the stacks that end in the nodes that used tells.
func (t *stackTree) radix(used map[uint32]struct{}) *radix {
	x := &radix{places: make(map[uint32]int, len(used))}
	path := make([]uint32, 0, 64)
	if _, end := used[0]; end { // the empty stack, before which nothing comes
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

// id returns the ID of the stack that ends in the node.
func (x *radix) id(node uint32) StackID { return StackID(len(x.words) - 1 - x.places[node]) }

// stacks appends the words and returns an error if indices do not fit.
func (e *encoder) stacks(x *radix) error {
	if len(x.words) > math.MaxInt32 {
		return unrepresentable("call stacks of %d words", len(x.words))
	}
	for i := len(x.words) - 1; i >= 0; i-- {
		e.u32(x.words[i])
	}
	return nil
}
