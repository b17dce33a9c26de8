package rebase

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// oldSources finds functions as they were when the profile was recorded: in the texts of the old
// sources, or by the fingerprints of lines (marks) that the profile contains.
type oldSources interface {
	// find returns the functions that may be a symbol's function.
	find(file, symbol string, spelled *spelling) []*function
	// unchanged reports whether a file is known to be the same in the new sources.
	unchanged(file string) bool
}

// A plan maps each symbol of a profile to a function of the new sources, and the old line offsets
// of that function to new ones.
type plan struct {
	old     oldSources
	new     *Sources
	changes []*change
	taken   map[functionKey]bool // functions of the new sources to which a symbol is mapped
}

// A change describes a profiled function, which is the function of one symbol of the profile: its
// text in the old and in the new sources, and the new offset of each old line.
type change struct {
	use
	index    int // index in plan.changes
	spelled  spelling
	outcome  Outcome // never Renamed, which plan.report sets
	name     string  // symbol in the new profile
	path     string  // path of the unit in the new profile
	old, new *function
	share    float64          // share of the lines with counts, by weight, that exist in the new function
	same     bool             // all line offsets stay the same
	first    int32            // old offset whose new offset is to[0]
	to       []int32          // new offset for each old offset, or none
	apart    map[callee]int32 // new offsets of calls that are not on the same line as their counts any more
}

// makePlan maps each symbol of a profile from its function in the old sources to a function in the
// new sources. It first tries functions of the same name, and then searches for renamed functions.
func makePlan(uses []use, old oldSources, new *Sources) *plan {
	p := &plan{old: old, new: new, taken: make(map[functionKey]bool)}
	var open []*change
	for i := range uses {
		c := &change{use: uses[i], index: i, name: uses[i].symbol, path: uses[i].file, spelled: spell(uses[i].symbol)}
		p.changes = append(p.changes, c)
		if c.old = bestOld(c, old.find(c.file, c.symbol, &c.spelled)); c.old == nil {
			c.same = true
			continue
		}
		if old.unchanged(c.file) {
			p.stay(c)
			continue
		}
		c.outcome = Lost
		if f := p.best(c, new.find(c.file, c.symbol, &c.spelled)); f != nil {
			p.take(c, f)
			f.forget()
		}
		if c.old.forget(); c.share < leastShare {
			open = append(open, c)
		}
	}
	for _, c := range open {
		if f := p.best(c, slices.DeleteFunc(slices.Clone(new.near(&c.spelled)), p.isTaken)); c.new == nil && f != nil {
			p.take(c, f)
		}
	}
	p.search(slices.DeleteFunc(slices.Clone(open), func(c *change) bool { return c.share >= leastShare }))
	for _, c := range open {
		if c.new == nil && !new.Has(c.old.file) {
			c.outcome, c.same = Unknown, true
		}
	}
	if new.declared != nil {
		p.respell(new)
	} else {
		p.retype(new)
	}
	p.movePaths()
	return p
}

// take maps the profiled function c to the function f of the new sources, and aligns the lines of
// both.
func (p *plan) take(c *change, f *function) {
	c.new = f
	p.taken[f.key()] = true
	c.align()
	c.name = c.renamed()
}

// stay leaves the records of the profiled function c as they are, because its source file is
// unchanged. It also marks the functions of the new sources with the same symbol as taken, so that
// no other profiled function is mapped to them.
func (p *plan) stay(c *change) {
	c.same, c.share, c.outcome = true, 1, Unchanged
	for _, f := range p.new.find(c.file, c.symbol, &c.spelled) {
		if path.Base(f.file) == path.Base(c.file) {
			p.taken[f.key()] = true
		}
	}
}

// isTaken reports whether a profiled function is already mapped to the function f of the new
// sources. It is always false for a function whose symbol is unknown.
func (p *plan) isTaken(f *function) bool { return f.symbol != "" && p.taken[f.key()] }

// best returns the candidate in the new sources that is most probably the profiled function c, or
// nil. A candidate in another file than before must have enough lines in common with the old
// function.
func (p *plan) best(c *change, candidates []*function) *function {
	return best(candidates, func(f *function) float64 {
		old, lines := c.old.Lines(), f.linesLike(c.old)
		same := common(old, lines)
		f.forget()
		if same < leastShare && path.Base(c.old.file) != path.Base(f.file) {
			return -1
		}
		return c.kinship(f) + 6*same + alikeLong(len(old), len(lines))
	})
}

// alikeLong returns how similar two lengths are: the ratio of the smaller one to the larger one,
// from 0 to 1.
func alikeLong(n, m int) float64 { return float64(min(n, m)) / float64(max(n, m, 1)) }

// A functionKey identifies a function of the new sources. Instances of a function template have the
// same text and different symbols, so they are different functions.
type functionKey struct {
	outline *outline.Function
	symbol  string
}

func (f *function) key() functionKey { return functionKey{f.outline, f.symbol} }

// bestOld returns the function in the old sources to which the counts of the profiled function c
// belong, or nil. candidates are the functions with the same name. A candidate that debug info
// declares with the symbol of c is accepted. Any other candidate must be in the file of the symbol,
// if that is known, and must have code at enough of the lines with counts.
func bestOld(c *change, candidates []*function) *function {
	return best(candidates, func(f *function) float64 {
		if f.symbol != "" && f.marks == nil {
			return 0
		}
		fits := c.fits(f)
		f.forget()
		if fits < leastFit || c.file != "" && path.Base(c.file) != path.Base(f.file) {
			return -1
		}
		if f.marks != nil {
			return fits
		}
		return c.kinship(f) + 4*fits
	})
}

// leastFit is the smallest share for which bestOld takes a function: the share of the profile's
// lines at which the function has code.
const leastFit = 0.5

// maxCandidates limits the number of functions of one name that best compares.
const maxCandidates = 1 << 9

// best returns the candidate with the highest score, or nil if all scores are negative. If several
// candidates have the highest score, it returns the first one.
func best(candidates []*function, score func(*function) float64) *function {
	candidates = candidates[:min(len(candidates), maxCandidates)]
	var found *function
	highest := 0.0
	for _, f := range candidates {
		if s := score(f); s >= highest && (found == nil || s > highest) {
			found, highest = f, s
		}
	}
	return found
}

// kinship returns a score for how well the scope, file, parameters and symbol of the function f of
// the sources fit the symbol of the profiled function c. A higher score is better.
func (c *change) kinship(f *function) float64 {
	score := 2 * float64(commonEnd(path.Clean(c.file), f.file, "/"))
	if c.spelled.known {
		scopes := strings.Join(c.spelled.scope, "::")
		inner := ""
		if n := len(c.spelled.scope); n > 0 {
			inner = c.spelled.scope[n-1]
		}
		if last := f.scope[strings.LastIndexByte(f.scope, ':')+1:]; last != inner && f.scope != "" {
			score -= 100 // a function of another class
		}
		score += 2 * float64(commonEnd(scopes, f.scope, "::"))
	}
	if c.spelled.params != nil {
		words := f.parameters()
		score += 2*shareOf(sorted(c.spelled.params), sorted(words)) + inOrder(c.spelled.params, words)/2
	}
	if f.symbol != "" {
		score += 3 * resemblance(c.symbol, f.symbol)
	}
	return score
}

// resemblance returns the share of pairs of adjacent bytes that two names have in common.
func resemblance(a, b string) float64 {
	pairs := make(map[[2]byte]int, len(a))
	for i := 1; i < len(a); i++ {
		pairs[[2]byte{a[i-1], a[i]}]++
	}
	same := 0
	for i := 1; i < len(b); i++ {
		if pair := [2]byte{b[i-1], b[i]}; pairs[pair] > 0 {
			pairs[pair]--
			same += 2
		}
	}
	return float64(same) / float64(max(len(a)+len(b)-2, 1))
}

// sorted returns a sorted copy of a list.
func sorted(words []uint32) []uint32 {
	words = slices.Clone(words)
	slices.Sort(words)
	return words
}

// maxOrdered limits the number of words in parameters that inOrder compares.
const maxOrdered = 1 << 6

// inOrder returns the share of the words in types that occur in text in the same order. Both lists
// contain hashes of the words in a function's parameters. So inOrder distinguishes overloads that
// differ only in the order of their parameters.
func inOrder(types, text []uint32) float64 {
	types, text = types[:min(len(types), maxOrdered)], text[:min(len(text), maxOrdered)]
	found := 0
	for _, word := range types {
		if i := slices.Index(text, word); i >= 0 {
			text = text[i+1:]
			found++
		}
	}
	return float64(found) / float64(max(len(types), 1))
}

// parameters returns the hashes of the words in the parameters that the function has in its source
// text.
func (f *function) parameters() (words []uint32) {
	list, _ := f.outline.ParameterList(f.text, f.name)
	for _, p := range list {
		words = append(words, outline.Words([]byte(p.Words+" "+p.Default))...)
	}
	return words
}

// shareOf returns how many words two sorted lists have in common, as a share of their words.
func shareOf(words, others []uint32) float64 {
	if len(words)+len(others) == 0 {
		return 1
	}
	return 2 * float64(inCommon(words, others)) / float64(len(words)+len(others))
}

// inCommon returns the number of words that two sorted lists have in common.
func inCommon(v, w []uint32) (n int) {
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch c := cmp.Compare(v[i], w[j]); {
		case c == 0:
			n++
			i++
			j++
		case c < 0:
			i++
		default:
			j++
		}
	}
	return n
}

// fits returns how well the function f of the sources fits the counts of the profiled function c:
// the share of the lines with counts at which f has code. A line with a call must also contain the
// name of the called function.
func (c *change) fits(f *function) float64 {
	lines := f.Lines()
	found, all := 0, 0
	for _, offset := range c.lines {
		if offset >= 0 {
			all++
			if lineAt(lines, offset) >= 0 {
				found++
			}
		}
	}
	for _, called := range c.callees {
		if i := lineAt(lines, called.line); i >= 0 && lines[i].Words != nil {
			all++
			if lines[i].Names(called.word) {
				found++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(found) / float64(all)
}

// lineAt returns the index in lines of the line with an offset, or none.
func lineAt(lines []outline.Line, offset int32) int {
	i, ok := slices.BinarySearchFunc(lines, offset, func(l outline.Line, offset int32) int { return cmp.Compare(l.Offset, offset) })
	if !ok {
		return none
	}
	return i
}

// common returns the number of lines that two functions have in common, in any order, as a share of
// the lines of both.
func common(old, new []outline.Line) float64 {
	times := make(map[uint64]int, len(old))
	for _, key := range rows(old, 0, len(old), commonBits) {
		times[key]++
	}
	same := 0
	for _, key := range rows(new, 0, len(new), commonBits) {
		if times[key] > 0 {
			times[key]--
			same += 2
		}
	}
	return float64(same) / float64(max(len(old)+len(new), 1))
}

// commonBits is the number of bits of evidence that a line needs so that common counts it, see
// rows.
const commonBits = 10

// align pairs the lines of the profiled function c in the old sources with those in the new
// sources. It sets the new offsets of the lines, the share of the lines that still exist, and the
// outcome.
func (c *change) align() {
	old, new := c.old.Lines(), c.new.linesLike(c.old)
	if sameLines(old, new) {
		c.same, c.share, c.outcome = true, 1, Unchanged
		return
	}
	c.same = false
	a := align(old, new)
	c.first, c.to = offsets(a)
	c.apart = callsApart(a, c)
	var found, all float32
	c.outcome = Moved
	for _, offset := range c.lines {
		i := lineAt(old, offset)
		w := float32(1)
		switch {
		case i >= 0:
			w = weight(&old[i])
		case c.isBefore(offset):
			continue
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

// sameLines reports whether two versions of a function have equal lines at equal offsets.
func sameLines(old, new []outline.Line) bool {
	return slices.EqualFunc(old, new, func(v, w outline.Line) bool { return v.Offset == w.Offset && v.Hash == w.Hash })
}

// offsets returns the new line offset for each old line offset. The first element of to is for the
// old offset first. An offset without a line, such as that of a comment, moves with the lines
// before and after it if their distance stays the same.
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

// longestSplit limits the number of lines into which one line may have been split.
const longestSplit = 8

// callsApart returns the new line offsets of calls that no longer are on the same line as the
// counts of their old line. A formatter may put the statement after a condition on the next line,
// while the counts stay with the condition. Such a call moves to the next line that contains the
// name of the called function. No line between the two may be paired with an old line.
func callsApart(a *alignment, c *change) map[callee]int32 {
	lines := c.new.Lines()
	var taken map[int32]bool
	var apart map[callee]int32
	for _, called := range c.callees {
		at, ok := c.line(called.line)
		i := lineAt(lines, at)
		if !ok || i == none || lines[i].Names(called.word) {
			continue
		}
		if taken == nil {
			taken, apart = a.taken(), make(map[callee]int32)
		}
		for _, l := range lines[i+1 : min(i+1+longestSplit, len(lines))] {
			if taken[l.Offset] {
				break
			}
			if l.Names(called.word) {
				apart[called] = l.Offset
				break
			}
		}
	}
	return apart
}

// isBefore reports whether an offset is a line before the declaration of the function, as code of
// macros and included files can have. Offsets have 16 bits, so in a function of more than 32,768
// lines a negative offset may be a line of the function itself.
func (c *change) isBefore(offset int32) bool {
	return offset < min(c.first, 0) && len(c.to) <= 1<<15
}

// line returns the new line offset for counts at an old offset, and false if the line no longer
// exists. Offsets before the declaration, as of macros, are not part of the function and stay the
// same.
func (c *change) line(offset int32) (int32, bool) {
	if c.same || c.isBefore(offset) {
		return offset, true
	}
	i := int64(offset) - int64(c.first)
	if i < 0 || i >= int64(len(c.to)) || c.to[i] == none {
		return 0, false
	}
	return c.to[i], true
}

// callLine returns the new line offset for the calls and inlined bodies of a function at an old
// offset. word is the hash of that function's unqualified name. It returns false if the line no
// longer exists.
func (c *change) callLine(offset int32, word uint32) (int32, bool) {
	if to, ok := c.apart[callee{offset, word}]; ok {
		return to, true
	}
	return c.line(offset)
}

// roots is a pair of folders that contain the same source files: one as the profile names it, and
// one in the new sources.
type roots struct{ old, new string }

// movePaths sets the new path of symbols whose function has moved to a file of another name. The
// profile and the new sources may name their folders differently. So movePaths finds the pair of
// folders that most functions have, and replaces one by the other in the path.
func (p *plan) movePaths() {
	times := make(map[roots]int)
	var usual roots
	for _, c := range p.changes {
		if c.new == nil || c.file == "" {
			continue
		}
		if r, ok := rootsOf(c.file, c.new.file); ok {
			if times[r]++; times[r] > times[usual] {
				usual = r
			}
		}
	}
	for _, c := range p.changes {
		if c.new == nil || c.file == "" || path.Base(c.file) == path.Base(c.new.file) {
			continue
		}
		if rest, ok := strings.CutPrefix(c.new.file, usual.new); ok {
			c.path = usual.old + rest
		}
	}
}

// rootsOf returns the folders in which two paths begin: what remains of both paths without the
// components at their ends that are equal. ok is false if the file names differ.
func rootsOf(old, new string) (r roots, ok bool) {
	if path.Base(old) != path.Base(new) {
		return r, false
	}
	for old != "" && new != "" && old[len(old)-1] == new[len(new)-1] {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	if old != "" && new != "" { // the names of the folders may end alike
		oldEnd, newEnd := strings.LastIndexByte(old, '/')+1, strings.LastIndexByte(new, '/')+1
		return roots{old[:oldEnd], new[:newEnd]}, true
	}
	return roots{old, new}, true
}
