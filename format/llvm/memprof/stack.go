package memprof

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Frame is a place in a function: a call or, in the first frame of an allocation's stack, the
// allocation.
type Frame struct {
	Function   uint64 // GUID of the function
	LineOffset uint32 // number of lines after the first line of the function
	Column     uint32
	Inlined    bool // the function was inlined into the function of the next frame
}

// frameSize is the size of a frame in a section, in bytes.
const frameSize = 17

// GUID returns the identifier of a function in a profile: the first eight bytes of the MD5 of its
// symbol name, without the suffixes .llvm.X and .part.X that the optimizer appends to copied or
// promoted functions.
func GUID(name string) uint64 {
	return symname.GUID(symname.StripMemProf(name))
}

func (e *encoder) frame(f Frame) {
	e.u64(f.Function)
	e.u32(f.LineOffset)
	e.u32(f.Column)
	e.u8(uint8(one(f.Inlined)))
}

func (d *decoder) frame() Frame {
	return Frame{
		Function:   d.Uint64("function of a frame"),
		LineOffset: d.Uint32("line offset of a frame"),
		Column:     d.Uint32("column of a frame"),
		Inlined:    d.Uint8("flag of a frame") != 0,
	}
}

// wordSize is the size in bytes of a word in the array of call stacks in versions 3 and 4. A stack
// ID is an index into this array. The word at the index is the number of frames. The next words are
// indexes of frames, leaf first. A negative word -n is a jump: the rest of the stack is n words
// later, shared with another stack.

const wordSize = 4

// word returns word i of the array of call stacks.
func (r *Reader) word(i int) uint32 {
	return binary.LittleEndian.Uint32(r.stacks.Data[i*wordSize:])
}

// stackFault returns an error about word i of the array of call stacks.
func (r *Reader) stackFault(i int, class error, format string, args ...any) error {
	return faultAt(partCallStacks, r.stacks.base+int64(i)*wordSize, class, format, args...)
}

// radixFrames implements [Reader.Frames] for versions 3 and 4. There, all call stacks are in one
// array of words, in which a stack may jump to frames of another one.
func (r *Reader) radixFrames(id StackID) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		words := len(r.stacks.Data) / wordSize
		if id >= StackID(words) {
			yield(Frame{}, r.stackFault(0, errOffset, "call stack %d of an array of %d words", id, words))
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
			if !yield(f, err) || err != nil {
				return
			}
			i = next
		}
	}
}

// radixFrame returns the frame at word i of the array of call stacks. The second result is the
// index of the word that holds the frame: i, or the word to which word i jumps. words is the number
// of words in the array.
func (r *Reader) radixFrame(i, words int) (Frame, int, error) {
	if i >= words {
		return Frame{}, 0, r.stackFault(i, fault.ErrTruncated, "a call stack reaches past the end of the array")
	}
	v := int32(r.word(i))
	if v < 0 {
		jump := -int64(v)
		if jump >= int64(words-i) {
			return Frame{}, 0, r.stackFault(i, errOffset, "a jump of %d words, %d are left", jump, words-i)
		}
		from := i
		i += int(jump)
		if v = int32(r.word(i)); v < 0 {
			return Frame{}, 0, r.stackFault(from, errOffset, "a jump that leads to another")
		}
	}
	if int(v) >= len(r.frames.Data)/frameSize {
		return Frame{}, 0, r.stackFault(i, errOffset, "frame %d of %d", v, len(r.frames.Data)/frameSize)
	}
	d := r.frames
	d.Pos = int(v) * frameSize
	return d.frame(), i, nil
}

// A radix builds the array of call stacks of versions 3 and 4. Stacks with the same outer frames
// share the words for these frames. A stack can only jump forward. So the stacks are added in the
// order of the tree of frames, parents first, and the finished array is reversed.
type radix struct {
	words  []uint32       // in reverse order; jumps as distances
	places map[uint32]int // index in words of the frame count of each stack, by node
	path   []int          // index in words of the frame at each depth of the previous stack, as far as it is shared
}

// add adds the call stack that ends in a node of the tree. path has the frames of the stack, the
// outermost first.
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

// radix returns the array of call stacks for those stacks whose last nodes in the tree are in used.
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

// id returns the ID that a call stack has in the section. node is the node of the tree in which the
// stack ends.
func (x *radix) id(node uint32) StackID { return StackID(len(x.words) - 1 - x.places[node]) }

// stacks appends the array of call stacks to the section. It returns an error if the array has more
// words than an index can address.
func (e *encoder) stacks(x *radix) error {
	if len(x.words) > math.MaxInt32 {
		return unrepresentable("call stacks of %d words", len(x.words))
	}
	for i := len(x.words) - 1; i >= 0; i-- {
		e.u32(x.words[i])
	}
	return nil
}
