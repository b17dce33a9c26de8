package rebase

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// leastShare is the minimum share of a function's lines that must still be in the function of the
// same name. If fewer are, makePlan tries functions of other names.
const leastShare = 0.4

// Limits for recognising a function that has another name in the new sources. The old function has
// at least leastLines lines. The share of these lines that the new function has is at least
// unmistaken. It exceeds the share of any other new function by at least leastMargin.
const (
	leastLines  = 4
	unmistaken  = 0.6
	leastMargin = 0.15
)

// search finds functions in the new sources that have another name, for the profiled functions
// open. It compares the lines that they have in common. Its time is proportional to the lines of
// all new functions to which no profiled function is mapped.
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
	for f := range p.new.all {
		if p.taken[f.key()] {
			continue
		}
		lines := f.linesLike(open[0].old)
		for _, c := range likeliest(wanted, lines) {
			if found[c] == nil {
				found[c] = &finding{}
			}
			found[c].add(f, common(c.old.Lines(), lines))
		}
		f.forget()
	}
	for _, c := range open {
		if best := found[c]; best != nil && best.unmistakable(c) && !p.taken[best.function.key()] {
			p.take(c, best.function)
		}
	}
}

// likeliest returns the profiled functions that have the most lines in common with the given lines
// of a new function, at most maxLikeliest. wanted has the profiled functions by the keys of their
// old lines, see signs.
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

// signBits is the number of bits of evidence for a line that make it distinctive among all
// functions of a program.
const signBits = 24

// signs returns a key for each line of a function. Few other functions have a line with the same
// key.
func signs(lines []outline.Line) []uint64 { return rows(lines, 0, len(lines), signBits) }

// maxSharing limits the number of functions that are searched for by the same line.
const maxSharing = 8

// maxLikeliest limits the number of old functions with which one new function is compared.
const maxLikeliest = 4

// A finding is the result of a search so far: the new function that has the most lines in common
// with an old function.
type finding struct {
	function *function
	share    float64
	second   float64 // highest share of any other function
}

// add compares the finding with another new function g, which contains the given share of the old
// function's lines. If that share is higher, g becomes the finding.
func (f *finding) add(g *function, share float64) {
	switch {
	case f.function != nil && f.function.outline == g.outline:
	case share > f.share:
		f.function, f.share, f.second = g, share, f.share
	default:
		f.second = max(f.second, share)
	}
}

// unmistakable reports whether the new function that was found is certainly the profiled function
// c: it has most lines of c, and far more than any other new function.
func (f *finding) unmistakable(c *change) bool {
	return len(c.old.Lines()) >= leastLines && f.share >= unmistaken && f.share >= f.second+leastMargin && f.share > c.share
}

// renamed returns the symbol that the profiled function c has in the new sources. Debug info has no
// mangled symbol for functions that are local to a unit. For these, renamed replaces the
// unqualified name in the old symbol.
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

// sameStructor returns a constructor's or destructor's symbol in the variant, such as C1, that the
// symbol like has. symbol comes from debug info, which has one symbol for all variants.
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
