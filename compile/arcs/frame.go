package arcs

import (
	"github.com/go-afdo/afdo/profile"
)

// none is used in place of the number of a frame or an arc if there is none.
const none = -1

// maxDepth is the largest depth of inlined calls for which evidence is used. In real code the depth
// is less than 100.
const maxDepth = 128

// maxCalls limits how many calls get the count of one block of machine code. If the block is the
// beginning of an inlined function, the call of the function gets the count. If that call is the
// beginning of another inlined function, the call of that one gets it as well, and so on.
const maxCalls = 8

// A frame is the code of one function in the machine code of a symbol: the code of the symbol's own
// function, or that of a call that was inlined. Its field function is nil if the unit does not
// define the function.
type frame struct {
	parent   int32 // number of the caller's frame, or none
	depth    int32 // number of callers
	call     place // position of the inlined call in the parent
	function *function
	copy     int32  // number from unit.copies
	largest  uint64 // largest count of a block with its code, or with code that is inlined in it
	called   bool   // the caller got a sighting at the call
	seen     bool   // there is code of it, or of what is inlined in it
}

// frames divides the machine code of a symbol by the function that it comes from. It returns one
// [frame] for the symbol's own function, and one for each call that was inlined there.
func (u *unit) frames(c *profile.CodeCopy) []frame {
	frames := make([]frame, len(c.Frames))
	for i, f := range c.Frames {
		id, depth := copyOf{symbol: cutCold(c.Symbol), caller: none}, int32(0)
		if i > 0 {
			depth = frames[f.Parent].depth + 1
			id = copyOf{symbol: f.Function, caller: frames[f.Parent].copy, call: f.Call}
		}
		n, ok := u.copies[id]
		if !ok {
			n = int32(len(u.copies))
			u.copies[id] = n
		}
		frames[i] = frame{parent: f.Parent, depth: depth, call: u.at(f.Call), function: u.function(f.Function, f.Declared), copy: n}
		if f := frames[i].function; f != nil && (i > 0 || fragment(c.Symbol)) {
			f.inlined = true
		}
	}
	return frames
}

// place adds the count of a block of machine code to the function that contains the code. The code
// has the source position at, and is in frame n, that is, in the code of an inlined call or of the
// symbol's own function. The count belongs to the function whose control flow graph has the
// position: the function of the frame, or one into which it was inlined. place returns the frame of
// the function that got the count, see [unit.owner], or none.
func (u *unit) place(frames []frame, n int32, at place, block int32, count uint64) (owner int32) {
	if owner = u.owner(frames, n, at.key); owner != none {
		f := frames[owner].function
		f.sightings = append(f.sightings, sighting{at, frames[owner].copy, block, count})
	}
	return owner
}

// owner finds the function in whose control flow graph the code at a source position is. The code
// is in frame n, that is, in the code of an inlined call or of the symbol's own function. owner
// returns the frame of the function that it finds, or none if no graph contains the position.
//
// If GCC inlined a call before it made the graphs, the code of the callee is in the graph of the
// caller. If it inlined the call later, the code is in the callee's own graph, and the caller's
// graph still has the call.
func (u *unit) owner(frames []frame, n int32, at key) (owner int32) {
	owner = none
	if frames[n].depth > maxDepth {
		return none
	}
	for i := n; i >= 0; i = frames[i].parent {
		f := frames[i].function
		if f != nil && f.contains(at) {
			owner = i
		}
		if parent := frames[i].parent; parent >= 0 {
			if f := frames[parent].function; f != nil && f.calls[frames[i].call.key] {
				break
			}
		}
	}
	return owner
}

// calls adds the count of a block of machine code to the inlined call of the function that contains
// the code. It is needed because an inlined call often leaves no machine code of the caller. It
// only does so if the source position at, in frame n, is in the first block of the called function,
// which runs once in each call. If the call is itself in the first block of an inlined function,
// calls also adds the count to the call of that function, and so on.
func (u *unit) calls(frames []frame, n int32, at key, block int32, count uint64) {
	for range maxCalls {
		f := frames[n].function
		if frames[n].parent < 0 || f == nil || !f.beginsAt(at) {
			return
		}
		at = frames[n].call.key
		if u.place(frames, frames[n].parent, frames[n].call, block, count) != none {
			frames[n].called = true
		}
		n = frames[n].parent
	}
}

// limitCalls sets upper bounds for how often calls ran that were inlined and have no machine code
// in the caller. The bound of a call is the largest count of the code that was inlined there.
func (u *unit) limitCalls(frames []frame) {
	for i := range frames {
		f := &frames[i]
		if f.parent < 0 || f.called || !f.seen {
			continue
		}
		if owner := u.owner(frames, f.parent, f.call.key); owner != none {
			limits := frames[owner].function.limits
			limits[f.call.key] = count(uint64(limits[f.call.key]) + f.largest)
		}
	}
}
