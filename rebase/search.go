package rebase

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/rebase/internal/outline"
)

// Limits for taking a function with another name for the same function: it has at least this many
// lines, this share of them is equal to lines of the old function, and the share exceeds the share
// of any other function by this much.
const (
	leastLines  = 4
	unmistaken  = 0.6
	leastMargin = 0.15
)

// search looks for functions under other names. It takes time by the lines of all functions that no
// symbol has taken.
func (p *plan) search(open []*change) {
	wanted := make(map[uint64][]*change) // by lines that few of them have
	for _, c := range open {
		lines := c.old.Lines()
		for i, key := range signs(lines) {
			if list := wanted[key]; lines[i].Weight > 1 && len(list) < maxSharing {
				wanted[key] = append(list, c)
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	found := make(map[*change]*finding, len(open))
	p.new.all(func(f *function) bool {
		if !p.taken[f.key()] {
			lines := f.linesLike(open[0].old)
			for _, c := range likeliest(wanted, lines) {
				if found[c] == nil {
					found[c] = &finding{}
				}
				found[c].add(f, common(c.old.Lines(), lines))
			}
			f.forget()
		}
		return true
	})
	for _, c := range open {
		if best := found[c]; best != nil && best.unmistakable(c) && !p.taken[best.function.key()] {
			p.take(c, best.function)
		}
	}
}

// likeliest returns the few changes that have the most lines in common with the given lines.
func likeliest(wanted map[uint64][]*change, lines []outline.Line) []*change {
	votes := make(map[*change]int)
	for _, key := range signs(lines) {
		for _, c := range wanted[key] {
			votes[c]++
		}
	}
	list := slices.SortedFunc(maps.Keys(votes), func(c, d *change) int {
		return cmp.Or(cmp.Compare(votes[d], votes[c]), cmp.Compare(c.index, d.index))
	})
	return list[:min(len(list), maxLikeliest)]
}

// signBits is how much of a function's lines is a sign of it among all functions.
const signBits = 24

// signs returns a key for each line that few functions should have.
func signs(lines []outline.Line) []uint64 { return rows(lines, 0, len(lines), signBits) }

// maxSharing bounds how many functions one line is a sign of.
const maxSharing = 8

// maxLikeliest bounds how many functions one is compared with.
const maxLikeliest = 4

// A finding is the best function so far.
type finding struct {
	function *function
	share    float64
	second   float64 // share of another function
}

func (f *finding) add(g *function, share float64) {
	switch {
	case f.function != nil && f.function.outline == g.outline:
	case share > f.share:
		f.function, f.share, f.second = g, share, f.share
	default:
		f.second = max(f.second, share)
	}
}

func (f *finding) unmistakable(c *change) bool {
	return len(c.old.Lines()) >= leastLines && f.share >= unmistaken && f.share >= f.second+leastMargin && f.share > c.share
}

// renamed returns the symbol of a function under its new name. Of functions that are local to a
// unit, debug info has no symbol, but the unqualified name.
func (c *change) renamed() string {
	if c.new.symbol != "" && strings.HasPrefix(c.new.symbol, "_Z") == c.spelled.known {
		if slices.Contains(structors(c.new.symbol), symname.Canonical(c.symbol)) {
			return c.symbol
		}
		return sameStructor(c.new.symbol, c.symbol)
	}
	from, to := c.spelled.name, c.new.name.Text
	if c.spelled.known {
		from, to = mangled.LengthAndName(from), mangled.LengthAndName(to)
	}
	if i := strings.LastIndex(c.symbol, from); i >= 0 {
		return c.symbol[:i] + to + c.symbol[i+len(from):]
	}
	return c.symbol
}

// sameStructor returns a symbol of debug info, which has one for all variants of a constructor or
// destructor, as the variant that another symbol is.
func sameStructor(symbol, like string) string {
	for _, s := range structors(symbol)[1:] {
		n := len(s)
		for n > 0 && s[n-1] == symbol[n-1] {
			n--
		}
		if strings.Contains(like, s[n-2:n]+"E") { // C1, C2, ...
			return s
		}
	}
	return symbol
}
