package rebase

import (
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// none is the partner of a line that has none.
const none = -1

// Bounds of the time that two functions take. A function of n lines is compared with one of m in
// at most maxLevels times n+m steps, and as many comparisons of two lines as comparisons*(n+m).
const (
	maxLevels   = 64
	comparisons = 1 << 9
	maxCells    = 1 << 22 // in one region
)

// leastSimilar is how alike two lines must be to be the same after an edit.
const leastSimilar = 0.5

// replaced is the similarity of two lines if only their marks are known, and the marks differ.
const replaced = 0.2

// sameMark is added to the similarity of two lines with the same mark: the longest words of their
// conditions are equal, though a formatter may have moved the statement after the condition.
const sameMark = 0.15

// An alignment says for each line of an old function which line of the new one it has become.
type alignment struct {
	old, new []outline.Line
	to       []int32 // by old line, none if it is gone
	from     []int32 // by new line, none if it is new
	left     int     // how many more comparisons are allowed
}

// align aligns two functions, each line of one with at most one of the other.
//
// Lines that both have once are anchors, first in the whole function, then between two anchors, as
// in a patience diff. What is left between them is aligned such that as much as possible of the
// lines is the same, by words if no whole line is. Lines that were moved come last.
func align(old, new []outline.Line) *alignment {
	a := &alignment{old: old, new: new, to: nones(len(old)), from: nones(len(new)), left: comparisons * (len(old) + len(new))}
	if (len(old) == 1) != (len(new) == 1) && len(old) > 0 && len(new) > 0 {
		a.pair(firstOfBody(old), firstOfBody(new))
		return a
	}
	rest := a.anchors(region{0, len(old), 0, len(new), 0})
	a.moved()
	for _, r := range rest {
		a.similar(r)
	}
	a.extendAll()
	return a
}

// firstOfBody returns the index of the first line of a function's body. If an old function was
// written on a single line, its counts belong to its body.
func firstOfBody(lines []outline.Line) int {
	return 1 + slices.IndexFunc(lines[1:], func(l outline.Line) bool { return l.Weight > 0 })
}

// taken returns the offsets of the new lines that old ones have become.
func (a *alignment) taken() map[int32]bool {
	taken := make(map[int32]bool)
	for j, i := range a.from {
		if i != none {
			taken[a.new[j].Offset] = true
		}
	}
	return taken
}

func nones(n int) []int32 { return slices.Repeat([]int32{none}, n) }

func (a *alignment) pair(i, j int) { a.to[i], a.from[j] = int32(j), int32(i) }

// A region is a stretch of old lines and the stretch of new lines that they are aligned with.
type region struct {
	low, high       int // of the old lines
	newLow, newHigh int
	level           int
}

// anchors aligns equal lines at the ends of a region, and then equal lines that occur only once in
// each function. It returns the regions between them.
func (a *alignment) anchors(r region) (rest []region) {
	var pending stack.Stack[region]
	pending.Push(r)
	for !pending.Empty() {
		r := a.trim(pending.Pop())
		if r.low == r.high || r.newLow == r.newHigh {
			continue
		}
		pairs := increasing(a.unique(r))
		if len(pairs) == 0 || r.level == maxLevels {
			rest = append(rest, r)
			continue
		}
		at := region{low: r.low, newLow: r.newLow, level: r.level + 1}
		for _, p := range pairs {
			a.pair(int(p.i), int(p.j))
			at.high, at.newHigh = int(p.i), int(p.j)
			pending.Push(at)
			at.low, at.newLow = int(p.i)+1, int(p.j)+1
		}
		at.high, at.newHigh = r.high, r.newHigh
		pending.Push(at)
	}
	return rest
}

// trim aligns the equal lines at both ends of a region.
func (a *alignment) trim(r region) region {
	for r.low < r.high && r.newLow < r.newHigh && a.old[r.low].Hash == a.new[r.newLow].Hash {
		a.pair(r.low, r.newLow)
		r.low++
		r.newLow++
	}
	for r.low < r.high && r.newLow < r.newHigh && a.old[r.high-1].Hash == a.new[r.newHigh-1].Hash {
		r.high--
		r.newHigh--
		a.pair(r.high, r.newHigh)
	}
	return r
}

// A match is an old line and a new one.
type match struct{ i, j int32 }

// unique returns the lines that are once in either half of a region, by old line. If lines say
// little, it is the lines around them, too, that have to be the same.
func (a *alignment) unique(r region) []match {
	bits := bitsOf(r.high-r.low, r.newHigh-r.newLow)
	return pairsOf(rows(a.old, r.low, r.high, bits), rows(a.new, r.newLow, r.newHigh, bits), r.low, r.newLow)
}

// pairsOf returns the pairs of equal keys, of lines from two first ones on, that are there once in
// either list.
func pairsOf(old, new []uint64, first, newFirst int) (pairs []match) {
	type seen struct {
		at              int32
		times, newTimes uint8
	}
	lines := make(map[uint64]*seen, len(new))
	for j, key := range new {
		s := lines[key]
		if s == nil {
			s = &seen{at: int32(newFirst + j)}
			lines[key] = s
		}
		s.newTimes = min(s.newTimes+1, 2)
	}
	for _, key := range old {
		if s := lines[key]; s != nil {
			s.times = min(s.times+1, 2)
		}
	}
	for i, key := range old {
		if s := lines[key]; key != 0 && s != nil && s.times == 1 && s.newTimes == 1 {
			pairs = append(pairs, match{int32(first + i), s.at})
		}
	}
	return pairs
}

// increasing returns the longest row of pairs, which ascend by old line, whose new lines ascend as
// well.
func increasing(pairs []match) []match {
	var ends []int // by length, the pair with the least new line that ends a row of that length
	before := make([]int, len(pairs))
	for k, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.j, func(end int, j int32) int { return int(pairs[end].j - j) })
		before[k] = none
		if n > 0 {
			before[k] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, k)
		} else {
			ends[n] = k
		}
	}
	row := make([]match, len(ends))
	if len(ends) > 0 {
		k := ends[len(ends)-1]
		for n := len(row) - 1; n >= 0; n-- {
			row[n] = pairs[k]
			k = before[k]
		}
	}
	return row
}

// similar aligns a region without anchors so that the sum of the pairs' similarities is the
// largest. A region that is too large for this is not aligned.
func (a *alignment) similar(r region) {
	old, new := free(a.to, r.low, r.high), free(a.from, r.newLow, r.newHigh)
	n, m := len(old), len(new)
	if n == 0 || m > min(a.left, maxCells)/n {
		return
	}
	a.left -= n * m
	best := make([]float32, (n+1)*(m+1)) // by numbers of lines that are left of either
	at := func(i, j int) *float32 { return &best[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			sum := max(*at(i+1, j), *at(i, j+1))
			if alike := a.alike(old[i], new[j]); alike > 0 {
				sum = max(sum, *at(i+1, j+1)+alike)
			}
			*at(i, j) = sum
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch sum := *at(i, j); {
		case sum == *at(i+1, j):
			i++
		case sum == *at(i, j+1):
			j++
		default:
			a.pair(old[i], new[j])
			i++
			j++
		}
	}
}

// free returns the lines of a stretch that are not aligned yet.
func free(lines []int32, low, high int) (list []int) {
	for i := low; i < high; i++ {
		if lines[i] == none {
			list = append(list, i)
		}
	}
	return list
}

// alike says how much two lines have in common, 0 if they are not the same.
func (a *alignment) alike(i, j int) float32 {
	old, new := &a.old[i], &a.new[j]
	if old.Hash == new.Hash {
		if old.Words == nil {
			return a.confirmed(i, j) * weight(new)
		}
		return weight(new)
	}
	if old.Words == nil { // there is no telling, so lines that were replaced go in their order
		if old.Weight == 0 || new.Weight == 0 {
			return 0
		}
		return replaced * weight(new)
	}
	share := similarity(old, new)
	if old.Mark == new.Mark {
		share = min(share+sameMark, 1)
	}
	if share < leastSimilar {
		return 0
	}
	return share * weight(new)
}

// confirmed returns how similar two lines with equal marks are taken to be. A mark has few bits, so
// marks of different lines are often equal by chance. If marks of neighbouring lines are equal,
// too, chance is unlikely.
func (a *alignment) confirmed(i, j int) float32 {
	share := float32(lonely)
	for _, step := range [...]int{-1, 1} {
		if a.same(i+step, j+step) {
			share += (1 - lonely) / 2
		}
	}
	return share
}

// same reports whether there are two lines at these indexes, and they are equal.
func (a *alignment) same(i, j int) bool {
	return min(i, j) >= 0 && i < len(a.old) && j < len(a.new) && a.old[i].Hash == a.new[j].Hash
}

// lonely is the similarity of two lines with equal marks if the marks of their neighbours differ.
// It is larger than replaced, so that alignment prefers such a pair to two lines with different
// marks.
const lonely = 0.3

// weight says how much a line matters: a brace little.
func weight(l *outline.Line) float32 {
	return 0.1 + float32(math.Sqrt(float64(l.Weight)))
}

// similarity returns the share of the tokens of two lines that is the same.
func similarity(old, new *outline.Line) float32 {
	v, w := old.Words, new.Words
	if len(v) == 0 || len(w) == 0 {
		return 0
	}
	return 2 * float32(inCommon(v, w)) / float32(len(v)+len(w))
}

// moved aligns lines that were moved past other lines: unaligned lines that occur only once in each
// function.
func (a *alignment) moved() {
	bits := bitsOf(len(a.old), len(a.new)) + movedBits
	old, new := rows(a.old, 0, len(a.old), bits), rows(a.new, 0, len(a.new), bits)
	hide(old, a.old, a.to)
	hide(new, a.new, a.from)
	for _, p := range pairsOf(old, new, 0, 0) {
		a.pair(int(p.i), int(p.j))
	}
}

// movedBits is how many more bits lines must say that are where nobody would look for them.
const movedBits = 8

// hide clears the keys of lines that are aligned, or say too little to be known again elsewhere.
func hide(keys []uint64, lines []outline.Line, to []int32) {
	for i := range keys {
		if to[i] != none || lines[i].Weight < 2 {
			keys[i] = 0
		}
	}
}

// extendAll aligns the free neighbours of all pairs, as long as they are the same.
func (a *alignment) extendAll() {
	for i, j := range a.to {
		if j != none {
			a.extend(i, int(j), 1)
			a.extend(i, int(j), -1)
		}
	}
}

// extend aligns the neighbours of a pair as long as they are the same and free.
func (a *alignment) extend(i, j, step int) {
	for {
		i, j = i+step, j+step
		if !a.same(i, j) || a.to[i] != none || a.from[j] != none {
			return
		}
		a.pair(i, j)
	}
}
