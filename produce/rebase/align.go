package rebase

import (
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// none is the index of a line, callee or record that does not exist.
const none = -1

// Limits on the time to align a function of n lines with one of m lines. It takes at most
// maxLevels*(n+m) steps and comparisons*(n+m) comparisons of two lines.
const (
	maxLevels   = 64
	comparisons = 1 << 9
	maxCells    = 1 << 22 // comparisons in one region
)

// leastSimilar is the minimum similarity at which two lines count as the same line before and after
// an edit.
const leastSimilar = 0.5

// replaced is the similarity of two lines whose text is unknown, if their fingerprints in the
// profile (marks) differ.
const replaced = 0.2

// sameMark is added to the similarity of two lines with the same fingerprint (mark). Their most
// distinctive words are equal, although a formatter may have moved the statement after an if or for
// to the next line.
const sameMark = 0.15

// An alignment pairs the lines of an old version of a function with the lines of a new version.
type alignment struct {
	old, new []outline.Line
	to       []int32 // for each old line the index of its new line, or none
	from     []int32 // for each new line the index of its old line, or none
	left     int     // number of comparisons still allowed
}

// align pairs each line of an old function with at most one line of a new function.
//
// Lines that occur once in each function are anchors, first in the whole function and then between
// two anchors, as in a patience diff. Then lines that were moved past other lines are paired. The
// lines between two anchors are paired by similarity, so that as many words as possible stay the
// same.
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

// firstOfBody returns the index of the first line of a function's body that has words. align uses
// it if only one of the functions is on a single line: the counts of that line belong to the body.
func firstOfBody(lines []outline.Line) int {
	return 1 + slices.IndexFunc(lines[1:], func(l outline.Line) bool { return l.Weight > 0 })
}

// taken returns the line offsets of those new lines that are paired with an old line.
func (a *alignment) taken() map[int32]bool {
	taken := make(map[int32]bool)
	for j, i := range a.from {
		if i != none {
			taken[a.new[j].Offset] = true
		}
	}
	return taken
}

// nones returns a slice of n elements that all are none, the index for a missing line.
func nones(n int) []int32 { return slices.Repeat([]int32{none}, n) }

// pair records that old line i and new line j, which are indexes, are the same line.
func (a *alignment) pair(i, j int) { a.to[i], a.from[j] = int32(j), int32(i) }

// A region is a range of old lines and the range of new lines with which they are aligned.
type region struct {
	low, high       int // range of old lines
	newLow, newHigh int
	level           int
}

// anchors pairs equal lines in a region, which is a range of old lines and a range of new lines. It
// pairs the equal lines at both ends of the region, and then equal lines that occur only once in
// each of its two ranges. It does the same in the regions between these lines. It returns the
// regions that remain without such lines.
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

// trim pairs the equal lines at both ends of a region, which is a range of old lines and a range of
// new lines. It returns the region without these lines.
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

// A match is a pair of an old line and a new line, by index.
type match struct{ i, j int32 }

// unique returns the pairs of equal lines that occur only once in each of a region's two ranges, in
// the order of old lines. Lines that are too common to be recognised alone, such as braces, must
// also have equal lines around them.
func (a *alignment) unique(r region) []match {
	bits := bitsOf(r.high-r.low, r.newHigh-r.newLow)
	return pairsOf(rows(a.old, r.low, r.high, bits), rows(a.new, r.newLow, r.newHigh, bits), r.low, r.newLow)
}

// pairsOf returns the pairs of an old line and a new line with equal keys. old and new are the keys
// of two lists of lines. A line is paired only if its key occurs once in each list. first and
// newFirst are the indexes of the first line of each list.
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

// increasing returns the longest subsequence of pairs in which the new lines ascend. The pairs are
// sorted by old line.
func increasing(pairs []match) []match {
	var ends []int // for each length: the pair with the smallest new line that ends a subsequence of that length
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

// similar pairs old and new lines of a region so that the sum of their similarities is as large as
// possible. The order of lines stays the same. It does nothing if the region has too many lines for
// this.
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

// free returns the indexes from low up to, but not including, high of lines that are not paired
// yet. lines has the index of the paired line for each line, or none.
func free(lines []int32, low, high int) (list []int) {
	for i := low; i < high; i++ {
		if lines[i] == none {
			list = append(list, i)
		}
	}
	return list
}

// alike returns how similar old line i and new line j are, multiplied by the weight of the new
// line. It returns 0 if they are too different to be the same line.
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

// confirmed returns the assumed similarity of old line i and new line j, whose text is unknown and
// whose fingerprints in the profile (marks) are equal. A mark has few bits, so marks of different
// lines are often equal by chance. If the lines before or after them are equal as well, chance is
// less likely.
func (a *alignment) confirmed(i, j int) float32 {
	share := float32(lonely)
	for _, step := range [...]int{-1, 1} {
		if a.same(i+step, j+step) {
			share += (1 - lonely) / 2
		}
	}
	return share
}

// same reports whether old line i and new line j, which are indexes, exist and have the same
// content.
func (a *alignment) same(i, j int) bool {
	return min(i, j) >= 0 && i < len(a.old) && j < len(a.new) && a.old[i].Hash == a.new[j].Hash
}

// lonely is the similarity of two lines with equal fingerprints in the profile (marks), if the
// lines before and after them differ. It is larger than replaced, so that similar prefers such a
// pair to two lines with different marks.
const lonely = 0.3

// weight returns the weight of a line in the alignment. It grows with the number of words, so a
// line with a brace counts little.
func weight(l *outline.Line) float32 {
	return 0.1 + float32(math.Sqrt(float64(l.Weight)))
}

// similarity returns the number of words that an old line and a new line have in common, as a share
// of all their words.
func similarity(old, new *outline.Line) float32 {
	v, w := old.Words, new.Words
	if len(v) == 0 || len(w) == 0 {
		return 0
	}
	return 2 * float32(inCommon(v, w)) / float32(len(v)+len(w))
}

// moved pairs lines that an edit has moved past other lines. It pairs equal lines that are not
// paired yet and occur only once in each version of the function.
func (a *alignment) moved() {
	bits := bitsOf(len(a.old), len(a.new)) + movedBits
	old, new := rows(a.old, 0, len(a.old), bits), rows(a.new, 0, len(a.new), bits)
	hide(old, a.old, a.to)
	hide(new, a.new, a.from)
	for _, p := range pairsOf(old, new, 0, 0) {
		a.pair(int(p.i), int(p.j))
	}
}

// movedBits is the number of bits of evidence that a moved line needs in addition to those of
// bitsOf, because it can be anywhere in the function.
const movedBits = 8

// hide sets the keys of some lines to 0, so that pairsOf ignores these lines: those that are paired
// already, and those with too few words to be recognised elsewhere. to has the index of the paired
// line for each line, or none.
func hide(keys []uint64, lines []outline.Line, to []int32) {
	for i := range keys {
		if to[i] != none || lines[i].Weight < 2 {
			keys[i] = 0
		}
	}
}

// extendAll extends the pairs found so far: it also pairs equal lines that directly precede or
// follow a pair.
func (a *alignment) extendAll() {
	for i, j := range a.to {
		if j != none {
			a.extend(i, int(j), 1)
			a.extend(i, int(j), -1)
		}
	}
}

// extend pairs the lines that follow old line i and new line j (step 1), or that precede them (step
// -1), as long as they are equal and not paired yet.
func (a *alignment) extend(i, j, step int) {
	for {
		i, j = i+step, j+step
		if !a.same(i, j) || a.to[i] != none || a.from[j] != none {
			return
		}
		a.pair(i, j)
	}
}

// A line that is only known by its mark cannot be recognised alone. The row of lines around it
// makes it unique.

// spareBits is added to the number of bits of evidence for a match, so that a wrong match has a
// probability of 1/64. The number itself suffices to distinguish all pairs of lines of two
// functions.
const spareBits = 6

// maxRadius limits the number of lines before, and of lines after a line that rows includes in its
// key.
const maxRadius = 12

// bitsOf returns how many bits of evidence make a match unique among n × m candidates.
func bitsOf(n, m int) int { return bits.Len(uint(n)) + bits.Len(uint(m)) + spareBits }

// beyond is used in keys in place of the hash of a line before the first or after the last one.
const beyond = math.MaxUint64

// rows returns a key for each line from low up to, but not including, high. Lines with the same key
// are probably the same line. A key is the hash of the line itself and of the lines around it. It
// includes as many lines before and after as are needed to reach enough bits of evidence, at most
// maxRadius on either side.
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

// mix combines the key of a line with the hash of another line near it, and returns the new key.
// Lines with equal keys are probably the same line.
func mix(key, line uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(key^odd, line+odd)
	return hi ^ bits.RotateLeft64(lo, 23)
}
