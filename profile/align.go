package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/stack"
)

// An Alignment describes which units of two profiles were found to be the same.
type Alignment struct {
	Same  int           // number of units with the same path in both profiles
	Roots []AlignedRoot // folders that correspond to each other, those with the most units first
	Moved []MovedUnit   // units matched by their symbols
}

// An AlignedRoot is a pair of folders that correspond to each other.
type AlignedRoot struct {
	First, Second string // with a trailing slash, or empty
	Units         int    // number of units below the folders with the same relative path
}

// A MovedUnit is a pair of units that were matched by their symbols: the path in each profile.
type MovedUnit struct{ First, Second string }

// Align gives units in second the paths of the same units in first, for two builds of a program in
// different folders. first is not changed. Units are matched by the first of these rules that
// applies:
//   - their paths are the same;
//   - their paths are the same below two corresponding folders. Folders correspond if at least one
//     pair of units with the same relative path has a symbol name in common;
//   - at least half of the symbols of the smaller unit are also in the other unit, and in no third
//     unmatched unit.
//
// Align takes about 100 bytes per symbol.
func Align(first, second *Profile) Alignment {
	a := aligner{sides: [2]*alignSide{newAlignSide(first), newAlignSide(second)}, paths: slices.Clone(second.paths)}
	a.samePaths()
	a.sameRoots()
	a.sameSymbols()
	second.paths, second.files = a.paths, make(map[string]UnitRef, len(a.paths))
	for f, path := range a.paths {
		second.files[path] = UnitRef(f)
	}
	return a.done
}

// An aligner matches the units of two profiles.
type aligner struct {
	sides [2]*alignSide
	paths []string // new paths of the second profile's units
	done  Alignment
}

// An alignSide holds the state for one profile.
type alignSide struct {
	symbols [][]string         // names of symbols by unit
	open    map[string]UnitRef // units that have not been matched, by path
}

func newAlignSide(p *Profile) *alignSide {
	s := &alignSide{symbols: make([][]string, p.NumUnits()), open: make(map[string]UnitRef, p.NumUnits())}
	for i := range p.NumSymbols() {
		f := p.SymbolUnit(SymbolRef(i))
		s.symbols[f] = append(s.symbols[f], p.SymbolName(SymbolRef(i)))
	}
	for i, path := range p.paths {
		s.open[path] = UnitRef(i)
	}
	return s
}

// named returns the names of a unit's symbols.
func (s *alignSide) named(path string) []string { return s.symbols[s.open[path]] }

// match records that two units are the same.
func (a *aligner) match(first, second string) {
	a.paths[a.sides[1].open[second]] = first
	delete(a.sides[0].open, first)
	delete(a.sides[1].open, second)
}

func (a *aligner) samePaths() {
	for path := range a.sides[0].open {
		if _, ok := a.sides[1].open[path]; ok {
			a.done.Same++
			a.match(path, path)
		}
	}
}

// roots is a pair of folders, each with a trailing slash or empty, such that two paths are equal
// after them.
type roots struct{ first, second string }

// Limits for profiles in which many units have the same file name. Units beyond the limits can
// still be matched by their symbols.
const (
	maxAlike = 16 // maximum number of units with one file name that propose roots
	maxRoots = 64
)

// sameRoots matches units below corresponding folders. Every pair of units with the same file name
// proposes a pair of roots. The pairs with the most proposals are tried first.
func (a *aligner) sameRoots() {
	votes := a.proposed()
	order := slices.SortedFunc(maps.Keys(votes), func(x, y roots) int {
		return cmp.Or(cmp.Compare(votes[y], votes[x]), strings.Compare(x.first, y.first), strings.Compare(x.second, y.second))
	})
	for _, r := range order[:min(len(order), maxRoots)] {
		below := a.below(r)
		if !slices.ContainsFunc(below, a.haveCommon) {
			continue
		}
		a.done.Roots = append(a.done.Roots, AlignedRoot{r.first, r.second, len(below)})
		for _, u := range below {
			a.match(u.First, u.Second)
		}
	}
	slices.SortStableFunc(a.done.Roots, func(x, y AlignedRoot) int { return cmp.Compare(y.Units, x.Units) })
}

// proposed counts the pairs of units that propose each pair of roots.
func (a *aligner) proposed() map[roots]int {
	var byName [2]map[string][]string
	for i, side := range a.sides {
		byName[i] = make(map[string][]string)
		for path := range side.open {
			name := path[strings.LastIndexByte(path, '/')+1:]
			byName[i][name] = append(byName[i][name], path)
		}
	}
	votes := make(map[roots]int)
	for name, firsts := range byName[0] {
		seconds := byName[1][name]
		if len(firsts) > maxAlike || len(seconds) > maxAlike {
			continue
		}
		for _, first := range firsts {
			for _, second := range seconds {
				votes[rootsOf(first, second)]++
			}
		}
	}
	return votes
}

// rootsOf removes the common ending of two paths, in whole path elements.
func rootsOf(first, second string) roots {
	common := 0
	for n := 1; n <= min(len(first), len(second)) && first[len(first)-n] == second[len(second)-n]; n++ {
		if beginsName(first, n) && beginsName(second, n) {
			common = n
		}
	}
	return roots{first[:len(first)-common], second[:len(second)-common]}
}

// beginsName reports whether the last n bytes of a path start at the beginning of a path element.
func beginsName(path string, n int) bool { return n == len(path) || path[len(path)-n-1] == '/' }

// below returns the units with the same relative path below two roots.
func (a *aligner) below(r roots) (units []MovedUnit) {
	for first := range a.sides[0].open {
		rest, ok := strings.CutPrefix(first, r.first)
		if _, there := a.sides[1].open[r.second+rest]; ok && there {
			units = append(units, MovedUnit{first, r.second + rest})
		}
	}
	return units
}

// haveCommon reports whether two units have a symbol with the same name.
func (a *aligner) haveCommon(u MovedUnit) bool {
	names := make(map[string]bool)
	for _, name := range a.sides[0].named(u.First) {
		names[name] = true
	}
	return slices.ContainsFunc(a.sides[1].named(u.Second), func(name string) bool { return names[name] })
}

// sameSymbols matches units by symbols that occur in only one unit of each profile.
func (a *aligner) sameSymbols() {
	owners := [2]map[string]string{a.sides[0].owners(), a.sides[1].owners()}
	common := make(map[MovedUnit]int)
	for name, first := range owners[0] {
		if second := owners[1][name]; first != "" && second != "" {
			common[MovedUnit{first, second}]++
		}
	}
	order := slices.SortedFunc(maps.Keys(common), func(u, v MovedUnit) int {
		return cmp.Or(cmp.Compare(common[v], common[u]), strings.Compare(u.First, v.First), strings.Compare(u.Second, v.Second))
	})
	for _, u := range order {
		if a.areOpen(u) && 2*common[u] >= min(len(a.sides[0].named(u.First)), len(a.sides[1].named(u.Second))) {
			a.done.Moved = append(a.done.Moved, u)
			a.match(u.First, u.Second)
		}
	}
}

// areOpen reports whether neither unit has been matched.
func (a *aligner) areOpen(u MovedUnit) bool {
	_, first := a.sides[0].open[u.First]
	_, second := a.sides[1].open[u.Second]
	return first && second
}

// owners maps each symbol of the unmatched units to its unit. The unit is "" for a symbol of
// several units and for main, which every program has.
func (s *alignSide) owners() map[string]string {
	owners := map[string]string{"main": ""}
	for path := range s.open {
		for _, name := range s.named(path) {
			owner := path
			if _, several := owners[name]; several {
				owner = ""
			}
			owners[name] = owner
		}
	}
	return owners
}

// A Relocation describes where the records of a symbol move.
type Relocation struct {
	Path, Name string // new path and name of the symbol
	Drop       bool   // drop the symbol's function, and its inlined bodies in other functions

	// Line returns the new line for the records at a line, or false to drop them. It must map
	// different lines to different lines. A nil Line keeps all lines.
	Line func(line uint32) (uint32, bool)

	// CallLine replaces Line for calls and inlined bodies of a callee at a line. A nil CallLine
	// means that Line applies to these, too.
	CallLine func(line uint32, callee SymbolRef) (uint32, bool)
}

// Relocate returns a profile with records moved to other lines, and with symbols renamed. It calls
// where once for each symbol. An inlined body moves with the line of its call. Its records move by
// the Relocation of the inlined function. Head counts, timestamps, and the order of units and
// symbols stay. Unused units and symbols are dropped. The result has no summary, no marks and no
// hashes of files. p is not changed. Relocate takes O(n log n).
func (p *Profile) Relocate(where func(SymbolRef) Relocation) *Profile {
	r := relocator{from: p, to: New(), symbols: make([]SymbolRef, p.NumSymbols()), where: make([]Relocation, p.NumSymbols())}
	for f := range p.NumUnits() {
		r.to.AddUnit(p.UnitPath(UnitRef(f)))
	}
	for s := range r.where {
		r.where[s] = where(SymbolRef(s))
		r.symbols[s] = r.to.AddSymbol(r.to.AddUnit(r.where[s].Path), r.where[s].Name)
	}
	for s, f := range p.Functions() {
		if !r.where[s].Drop {
			r.to.AddFunction(r.symbols[s], Function{f.HeadCount, f.Timestamp, r.records(s, f.Records)})
		}
	}
	return r.to.pruned()
}

// A relocator moves the records of one profile into another.
type relocator struct {
	from, to *Profile
	symbols  []SymbolRef
	where    []Relocation
	body     Body
	open     stack.Stack[openBody]
}

// An openBody is an inlined body whose records are being moved.
type openBody struct {
	end    int
	symbol SymbolRef // the function around it
}

func (r *relocator) records(s SymbolRef, records []Record) []Record {
	r.body.Reset()
	for i := 0; i < len(records); i++ {
		for !r.open.Empty() && r.open.Top().end == i {
			s = r.leave()
		}
		record := &records[i]
		at, ok := r.where[s].line(record)
		switch {
		case record.Kind == KindInlined && (!ok || r.where[record.Callee].Drop):
			i += int(record.Count)
		case !ok:
		case record.Kind == KindCount:
			r.body.Count(at, record.Discriminator, record.Count)
		case record.Kind == KindCall:
			r.body.Call(at, record.Discriminator, r.symbols[record.Callee], record.Count)
		default:
			r.body.Enter(at, record.Discriminator, r.symbols[record.Callee])
			r.open.Push(openBody{i + 1 + int(record.Count), s})
			s = record.Callee
		}
	}
	for !r.open.Empty() {
		r.leave()
	}
	return r.body.Records()
}

// line returns the new line of a record.
func (w *Relocation) line(record *Record) (uint32, bool) {
	switch {
	case record.Kind != KindCount && w.CallLine != nil:
		return w.CallLine(record.Line, record.Callee)
	case w.Line != nil:
		return w.Line(record.Line)
	}
	return record.Line, true
}

// leave ends the innermost body, and returns the function around it.
func (r *relocator) leave() SymbolRef {
	r.body.Leave()
	return r.open.Pop().symbol
}

// A Ratio is an exact fraction: the weight of a profile in a sum, or a share of all samples. If Den
// is 0, [Ratio.Of] and [Profile.MergeScaled] panic, and [Sum] returns an error.
type Ratio struct{ Num, Den uint64 }

// one is the weight that does not change counts.
var one = Ratio{1, 1}

// ParseRatio parses a positive ratio: an integer ("3"), a decimal fraction ("0.5"), a quotient
// ("3/4") or a percentage ("99.99%"). The result is exact and in lowest terms. A ratio whose terms
// exceed 64 bits is an error.
func ParseRatio(s string) (Ratio, error) {
	r, ok := parseRatio(s)
	switch {
	case !ok:
		return Ratio{}, fmt.Errorf("bad ratio %.40q: want a number like 3, 0.5, 3/4 or 99.99%%", s)
	case r.Num == 0:
		return Ratio{}, fmt.Errorf("bad ratio %.40q: want more than 0", s)
	}
	return r, nil
}

func parseRatio(s string) (Ratio, bool) {
	if above, below, found := strings.Cut(s, "/"); found {
		num, ok := parseDigits(above)
		den, alsoOK := parseDigits(below)
		return reduced(num, den), ok && alsoOK && den > 0
	}
	number, percent := strings.CutSuffix(s, "%")
	whole, fraction, point := strings.Cut(number, ".")
	if point && (whole == "" || fraction == "") {
		return Ratio{}, false
	}
	if point {
		fraction = strings.TrimRight(fraction, "0")
	}
	num, ok := parseDigits(whole + fraction)
	den, alsoOK := powerOfTen(len(fraction))
	r := reduced(num, den)
	if ok && alsoOK && percent {
		r, ok = r.percent()
	}
	return r, ok && alsoOK
}

// parseDigits parses decimal digits and nothing else.
func parseDigits(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

func powerOfTen(n int) (uint64, bool) {
	power := uint64(1)
	for range n {
		hi, lo := bits.Mul64(power, 10)
		if hi > 0 {
			return 0, false
		}
		power = lo
	}
	return power, true
}

// percent returns r/100.
func (r Ratio) percent() (Ratio, bool) {
	c := reduced(r.Num, 100)
	hi, den := bits.Mul64(r.Den, c.Den)
	return reduced(c.Num, den), hi == 0
}

func reduced(num, den uint64) Ratio {
	a, b := num, den
	for b > 0 {
		a, b = b, a%b
	}
	if a == 0 {
		return Ratio{}
	}
	return Ratio{num / a, den / a}
}

// Of returns count multiplied by r, rounded to nearest, halves up. It saturates.
func (r Ratio) Of(count uint64) uint64 {
	if r.Den == 0 {
		panic(fmt.Sprintf("profile: the ratio %d/0", r.Num))
	}
	hi, lo := bits.Mul64(count, r.Num)
	lo, carry := bits.Add64(lo, r.Den/2, 0)
	hi += carry // cannot overflow: the upper word of a product never has all bits set
	if hi >= r.Den {
		return math.MaxUint64
	}
	quotient, _ := bits.Div64(hi, lo, r.Den)
	return quotient
}

// MergeScaled is like [Profile.Merge], but multiplies every head count, count and number of calls
// of q by weight. Products are computed in 128 bits, rounded to nearest, halves up, and saturate.
// Timestamps are not scaled. Records whose count becomes 0 are kept. A function with nothing but a
// head count is dropped if the head count becomes 0.
//
// Each input is scaled separately before it is added, so the order of inputs does not matter.
// Merging first and scaling the sum gives the same result for an integer weight; for other weights
// rounding may differ.
func (p *Profile) MergeScaled(q *Profile, weight Ratio) {
	symbols := p.adopt(q)
	p.mergeEvidence(q, weight)
	var body Body
	for s, f := range q.Functions() {
		records := renumber(&body, f.Records, symbols)
		if weight != one {
			weight.scale(records)
		}
		p.AddFunction(symbols[s], Function{
			HeadCount: weight.Of(f.HeadCount),
			Timestamp: f.Timestamp,
			Records:   records,
		})
	}
}

// scale multiplies counts and calls in place.
func (r Ratio) scale(records []Record) {
	for i := range records {
		if at := &records[i]; at.Kind != KindInlined {
			at.Count = r.Of(at.Count)
		}
	}
}
