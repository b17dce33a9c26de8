package explain

import (
	"maps"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// A shape is the set of lines of a function that have code in any of its copies, and of the lines
// with calls that are inlined. A profile has a count for each line with code, even if the count is
// 0. So a function that was not edited has the same shape in the profile and in the debug info of a
// compile.
type shape struct {
	lines       map[int]bool
	inlined     map[string]map[int]bool // lines of inlined calls, by callee
	first, last int
	alone       bool // one of the copies is not inlined, so it has all lines of the function
}

// add records that a line of the function has code.
func (s *shape) add(line int) {
	if s.lines == nil {
		s.lines, s.first, s.last = make(map[int]bool), line, line
	}
	s.lines[line] = true
	s.first, s.last = min(s.first, line), max(s.last, line)
}

// addCall records that a call of callee is inlined in a line of the function.
func (s *shape) addCall(callee string, line int) {
	if s.inlined == nil {
		s.inlined = make(map[string]map[int]bool)
	}
	if s.inlined[callee] == nil {
		s.inlined[callee] = make(map[int]bool)
	}
	s.inlined[callee][line] = true
}

// border reports whether a line is the first or the last line of the function, or outside of the
// function.
func (s *shape) border(line int) bool { return line <= s.first || line >= s.last }

// shapesOf returns the shape of each function in a profile. The keys are the names of the
// functions.
func shapesOf(p *profile.Profile) map[string]*shape {
	shapes := make(map[string]*shape)
	eachCount(p, func(frames []frame, r *profile.Record) {
		at := frames[len(frames)-1]
		s := shapes[at.name]
		if s == nil {
			s = new(shape)
			shapes[at.name] = s
		}
		s.add(at.place.line)
		s.alone = s.alone || len(frames) == 1
		if r.Kind == profile.KindInlined {
			s.addCall(p.SymbolName(r.Callee), at.place.line)
		}
	})
	return shapes
}

// changes returns the functions whose shape in the profile differs from their shapes in all
// compiles, each with the reason [Edited] or [Declared].
func changes(profiled map[string]*shape, codes []*Code) map[string]Reason {
	changed := make(map[string]Reason)
	for name, was := range profiled {
		how, known := Edited, false
		for _, c := range codes {
			for _, shapes := range c.shapes {
				if now := shapes[name]; now != nil {
					known = true
					how = better(how, was.change(now))
				}
			}
		}
		if known && how != Found {
			changed[name] = how
		}
	}
	return changed
}

// These are limits for finding edits. Even without an edit, debug info differs between compilers: a
// call is inlined in one and not in the other, or a line has code in only one.
const (
	minLines = 3   // a function of fewer lines is never taken for edited
	maxMove  = 200 // the largest number of lines by which an edit is assumed to move others
)

// change compares the shape s of a function in the profile with the shape now of the function in a
// compile. It returns [Declared] if all lines have moved by the same number, [Edited] if only some
// have, and [Found] if the function has not changed.
func (s *shape) change(now *shape) Reason {
	if len(s.lines) < minLines {
		return Found
	}
	here := s.common(now, 0)
	if by := now.first - s.first; by != 0 && by == now.last-s.last && s.common(now, by) > here {
		return Declared
	}
	if s.moved(now) || s.edited(now, here) {
		return Edited
	}
	return Found
}

// moved reports whether an inlined call of the function is in another line now. It looks only at
// calls that are inlined in both shapes.
func (s *shape) moved(now *shape) bool {
	for callee, lines := range s.inlined {
		there := now.inlined[callee]
		if len(lines) != 1 || len(there) != 1 {
			continue
		}
		if !maps.Equal(lines, there) {
			return true
		}
	}
	return false
}

// edited reports whether the function was probably edited: lines match better if all lines after
// some line are moved, or the function ends in another line now. here is the number of lines that
// match without a move.
func (s *shape) edited(now *shape, here int) bool {
	lines := slices.Sorted(maps.Keys(s.lines))
	best := here
	for by := -maxMove; by <= maxMove; by++ {
		if by == 0 {
			continue
		}
		n := 0 // of lines from the last one on that fit if they are moved
		before := here
		for _, line := range slices.Backward(lines) {
			if now.lines[line] {
				before--
			}
			if now.lines[line+by] {
				n++
			}
			best = max(best, before+n)
		}
	}
	return best > here+1 || s.alone && now.alone && s.last != now.last
}

// common compares the lines with code in two shapes of a function. It moves the lines of s by the
// given number of lines, and returns how many of them are then lines of now.
func (s *shape) common(now *shape, by int) int {
	n := 0
	for line := range s.lines {
		if now.lines[line+by] {
			n++
		}
	}
	return n
}
