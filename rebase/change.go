package rebase

import (
	"slices"

	"github.com/go-afdo/afdo/rebase/internal/outline"
)

// align finds the lines of the old function in the new one.
func (c *change) align() {
	old, new := c.old.Lines(), c.new.linesLike(c.old)
	if sameLines(old, new) {
		c.same, c.share, c.outcome = true, 1, Unchanged
		return
	}
	c.same = false
	a := align(old, new)
	c.first, c.to = offsets(a)
	var found, all float32
	c.outcome = Moved
	for _, offset := range c.lines {
		i := lineAt(old, offset)
		w := float32(1)
		if i >= 0 {
			w = weight(&old[i])
		}
		all += w
		if _, ok := c.line(offset); ok {
			found += w
		} else {
			c.outcome = Partly
		}
	}
	c.share = 1
	if all > 0 {
		c.share = float64(found / all)
	}
}

// sameLines reports whether two functions have the same lines at the same offsets.
func sameLines(old, new []outline.Line) bool {
	return slices.EqualFunc(old, new, func(v, w outline.Line) bool { return v.Offset == w.Offset && v.Hash == w.Hash })
}

// offsets returns the new offsets by old ones, from the first old one on. An offset without a line,
// such as one of a comment, goes with the lines around it if these stay together.
func offsets(a *alignment) (first int32, to []int32) {
	if len(a.old) == 0 {
		return 0, nil
	}
	first = a.old[0].Offset
	last := a.old[len(a.old)-1].Offset
	to = nones(int(last-first) + 1)
	for i, j := range a.to {
		if j == none {
			continue
		}
		at := a.old[i].Offset - first
		to[at] = a.new[j].Offset
		if i == 0 || a.to[i-1] != j-1 || j == 0 {
			continue
		}
		before := a.old[i-1].Offset - first
		if to[at]-to[before] == at-before {
			for k := before + 1; k < at; k++ {
				to[k] = to[before] + k - before
			}
		}
	}
	return first, to
}

// line returns where the counts of an offset go.
func (c *change) line(offset int32) (int32, bool) {
	if c.same {
		return offset, true
	}
	i := int64(offset) - int64(c.first)
	if i < 0 || i >= int64(len(c.to)) || c.to[i] == none {
		return 0, false
	}
	return c.to[i], true
}
