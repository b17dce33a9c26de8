package rebase

import (
	"path"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// moveEvidence copies the evidence of profile from, which is counts of machine code by source
// position, to profile to. It moves the positions to the new sources.
func (p *plan) moveEvidence(from, to *profile.Profile) {
	e := from.Evidence()
	if e == nil {
		return
	}
	byName := make(map[string][]*change, len(p.changes))
	for _, c := range p.changes {
		byName[c.symbol] = append(byName[c.symbol], c)
	}
	moved := &profile.Evidence{Fraction: e.Fraction, Copies: slices.Clone(e.Copies)}
	for i := range moved.Copies {
		moveCode(&moved.Copies[i], byName)
	}
	to.SetEvidence(moved)
}

// moveCode moves the source positions in the machine code c of a function, with the functions
// inlined in it, to the new sources. It also replaces the names of renamed functions. byName has
// the profiled functions by their old names. moveCode drops a position whose line no longer exists.
// A call whose line no longer exists gets line 0.
func moveCode(c *profile.CodeCopy, byName map[string][]*change) {
	frames := c.Frames
	changes := changesOf(c, byName)
	c.Frames = slices.Clone(frames)
	for i := range c.Frames {
		f := &c.Frames[i]
		if change := changes[i]; change != nil {
			if i == 0 {
				if rest, ok := strings.CutPrefix(c.Symbol, f.Function); ok {
					c.Symbol = change.name + rest
				}
			}
			f.Function = change.name
			if change.new != nil {
				f.Declared = uint32(change.new.name.Line)
			}
		}
		if i > 0 {
			word := uint32(0)
			if changes[i] != nil {
				word = outline.Word(changes[i].spelled.name)
			}
			at, ok := changes[f.Parent].position(&frames[f.Parent], f.Call, func(by *change, offset int32) (int32, bool) {
				return by.callLine(offset, word)
			})
			if f.Call = at; !ok {
				f.Call.Line = 0
			}
		}
	}
	c.Blocks = slices.Clone(c.Blocks)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		var places []profile.Place
		for _, at := range b.Places {
			var ok bool
			if at.Position, ok = changes[at.Frame].position(&frames[at.Frame], at.Position, (*change).line); ok {
				places = append(places, at)
			}
		}
		slices.SortFunc(places, profile.Place.Compare)
		b.Places = slices.Compact(places)
	}
	sizes := c.Sizes
	c.Sizes = nil
	for _, s := range sizes {
		var ok bool
		if s.Position, ok = changes[s.Frame].position(&frames[s.Frame], s.Position, (*change).line); ok {
			c.AddSize(s)
		}
	}
}

// changesOf returns the profiled function for each inline frame of the machine code c, with its new
// lines, or nil for an unknown function. byName has the profiled functions by their old names.
// Functions of one name are distinguished by the file of the frame's first position.
func changesOf(c *profile.CodeCopy, byName map[string][]*change) []*change {
	files := make([]string, len(c.Frames))
	note := func(frame int32, file string) {
		if files[frame] == "" {
			files[frame] = path.Base(file)
		}
	}
	for _, b := range c.Blocks {
		for _, p := range b.Places {
			note(p.Frame, p.File)
		}
	}
	for _, f := range c.Frames[1:] {
		note(f.Parent, f.Call.File)
	}
	changes := make([]*change, len(c.Frames))
	for i, f := range c.Frames {
		candidates := byName[f.Function]
		n := slices.IndexFunc(candidates, func(c *change) bool { return path.Base(c.file) == files[i] })
		if n < 0 && len(candidates) == 1 {
			n = 0
		}
		if n >= 0 {
			changes[i] = candidates[n]
		}
	}
	return changes
}

// position moves a source position in the inline frame f to the new sources. It returns false if
// the line of the position no longer exists. line maps old line offsets to new ones. Positions in
// other files than that of the function, such as macros of a header, stay the same.
func (c *change) position(f *profile.InlineFrame, at profile.Position, line func(*change, int32) (int32, bool)) (profile.Position, bool) {
	switch {
	case c == nil, f.Declared == 0, path.Base(at.File) != path.Base(c.file):
		return at, true
	case c.outcome == Lost:
		return at, false
	case at.File == c.file:
		at.File = c.path
	}
	if c.new == nil {
		return at, true
	}
	to, ok := line(c, int32(at.Line-f.Declared))
	at.Line = uint32(int64(c.new.name.Line) + int64(to))
	return at, ok
}
