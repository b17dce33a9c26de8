package rebase

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// leastShare is how much of a function must be found again under its name before it is not looked
// for under another.
const leastShare = 0.4

// Limits for taking a function with another name for the same function: the old function has at
// least this many lines, this share of them is in the new one, and the share exceeds the share of
// any other function by this much.
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

// A line that is only known by its mark cannot be recognised alone. The row of lines around it
// makes it unique.

// spareBits is the number of bits of evidence required beyond the number that distinguishes all
// pairs of lines of two functions.
const spareBits = 6

// maxRadius bounds how far a row reaches.
const maxRadius = 12

// bitsOf returns how many bits of evidence make a match unique among n × m candidates.
func bitsOf(n, m int) int { return bits.Len(uint(n)) + bits.Len(uint(m)) + spareBits }

// beyond is the mark of a line before the first or after the last one.
const beyond = math.MaxUint64

// rows returns a key for each of the lines from low to high. The key is made from the shortest row,
// with the line in its middle, that has enough bits of evidence. A row ends at the first and the
// last line.
func rows(lines []outline.Line, low, high, enough int) []uint64 {
	keys := make([]uint64, high-low)
	for i := low; i < high; i++ {
		key, known := lines[i].Hash, int(lines[i].Bits)
		for radius := 1; known < enough && radius <= maxRadius; radius++ {
			for _, at := range [...]int{i - radius, i + radius} {
				if at < low || at >= high {
					key = mix(key, beyond)
					continue
				}
				key = mix(key, lines[at].Hash)
				known += int(lines[at].Bits)
			}
		}
		keys[i-low] = max(key, 1)
	}
	return keys
}

// mix makes a key of a key and one more line.
func mix(key, line uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(key^odd, line+odd)
	return hi ^ bits.RotateLeft64(lo, 23)
}
