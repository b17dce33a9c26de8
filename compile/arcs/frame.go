package arcs

import (
	"github.com/go-afdo/afdo/profile"
)

// none is the number of no frame.
const none = -1

// maxDepth is the largest number of calls around a position. Real code has less than 100.
const maxDepth = 128

// maxCalls is the largest number of calls that a position is evidence for.
const maxCalls = 8

// A frame is an inlined call in the machine code. If the unit defines the callee, function is it.
type frame struct {
	parent   int32
	depth    int32
	call     place // in the parent
	function *function
	copy     int32
	largest  uint64 // count of its code and of what is inlined in it
	called   bool   // the call has a sighting
	seen     bool   // it has code
}

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

// place adds a sighting to the outermost function whose graph has the position. It has the position
// if the call was inlined before the graph was made. If the graph still has the call, the position
// belongs to the callee.
func (u *unit) place(frames []frame, n int32, at place, block int32, count uint64) (owner int32) {
	if owner = u.owner(frames, n, at.key); owner != none {
		f := frames[owner].function
		f.sightings = append(f.sightings, sighting{at, frames[owner].copy, block, count})
	}
	return owner
}

// owner returns the frame of that function, or none.
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

// calls adds sightings of the inlined calls that led to a position, as long as it is in the first
// block of the callee. Often an inlined call leaves no other code in the caller.
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

// limitCalls limits how often inlined calls without a sighting ran, by the largest count of the
// inlined code.
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
