package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Diff describes how the samples of two profiles differ. It ignores head counts, calls and
// timestamps; use [Compare] for those.
type Diff struct {
	First, Second Portion // the whole profiles; their Share is 1, or 0 without samples
	Overlap       Overlap

	// Functions and Units list the functions in either profile and their units, sorted by the
	// absolute change of their share of all samples, largest change first.
	Functions []FunctionDiff
	Units     []UnitDiff
}

// A Portion contains the samples of a function, a unit or a whole profile, in one of the two
// profiles.
type Portion struct {
	Functions int     // for a single function 1, or 0 if the profile does not have it
	Samples   uint64  // sum of all counts, saturating
	Share     float64 // share of all samples in the profile
}

// A FunctionDiff describes how a function differs between two profiles.
type FunctionDiff struct {
	Path, Name    string
	First, Second Portion
	// Overlap sums, over the function's locations, the smaller of the location's shares of the
	// function's samples in the two profiles. It is 0 if one profile does not have the function.
	Overlap float64
}

// A UnitDiff describes how a unit differs between two profiles.
type UnitDiff struct {
	Path          string
	First, Second Portion
	Gained, Lost  int // functions that exist only in the second profile, and only in the first
	// Overlap sums, over the locations of all functions in the unit, the smaller of the location's
	// shares of the unit's samples in the two profiles. It is 0 if one profile has no function in
	// the unit.
	Overlap float64
}

// Change returns the function's share of all samples in the second profile minus its share in the
// first.
func (f *FunctionDiff) Change() float64 { return f.Second.Share - f.First.Share }

// Change returns the unit's share of all samples in the second profile minus its share in the
// first.
func (u *UnitDiff) Change() float64 { return u.Second.Share - u.First.Share }

// NewDiff compares the samples of two profiles. It takes O(n log n) time and about 200 bytes per
// function.
func NewDiff(first, second *Profile) *Diff {
	d := differ{units: make(map[string]*unitPair)}
	d.match(first, second)
	d.weigh()
	return d.compare()
}

// A differ holds the state while NewDiff compares two profiles.
type differ struct {
	functions []functionPair
	units     map[string]*unitPair
	whole     [2]portion
	symbols   []SymbolRef // for each symbol of the first profile its number in the second, or a number that the second does not use
}

// A functionPair is a function of one or both profiles. sides has nil for a profile that does not
// have it.
type functionPair struct {
	path, name string
	sides      [2]*Function
	samples    [2]total
	unit       *unitPair
}

type unitPair struct {
	path         string
	sides        [2]portion
	gained, lost int
	locations    meter
}

type portion struct {
	functions int
	samples   total
}

func (p *portion) add(samples total) {
	p.functions++
	p.samples.add(samples)
}

func (p *portion) of(whole total) Portion {
	return Portion{p.functions, p.samples.saturated(), p.samples.shareOf(whole)}
}

// match pairs the functions of two profiles by unit and name.
func (d *differ) match(first, second *Profile) {
	matched := make([]bool, second.NumSymbols())
	d.symbols = numberLike(first, second)
	for s, f := range first.Functions() {
		pair := functionPair{sides: [2]*Function{f, nil}}
		if t := d.symbols[s]; int(t) < len(matched) {
			matched[t] = true
			pair.sides[1] = second.Function(t)
		}
		d.add(first, s, pair)
	}
	for t, g := range second.Functions() {
		if !matched[t] {
			d.add(second, t, functionPair{sides: [2]*Function{nil, g}})
		}
	}
	// The order affects the rounding of sums, so it must not depend on the numbering.
	slices.SortFunc(d.functions, func(f, g functionPair) int {
		return cmp.Or(strings.Compare(f.path, g.path), strings.Compare(f.name, g.name))
	})
}

func (d *differ) add(p *Profile, s SymbolRef, pair functionPair) {
	pair.path, pair.name = p.UnitPath(p.SymbolUnit(s)), p.SymbolName(s)
	pair.unit = d.units[pair.path]
	if pair.unit == nil {
		pair.unit = &unitPair{path: pair.path}
		d.units[pair.path] = pair.unit
	}
	d.functions = append(d.functions, pair)
}

// numberLike returns, for each symbol of p, its number in q or a number that q does not use.
func numberLike(p, q *Profile) []SymbolRef {
	symbols := make([]SymbolRef, p.NumSymbols())
	next := SymbolRef(q.NumSymbols())
	for i := range symbols {
		row := p.symbols.rows.at(i)
		t, ok := SymbolRef(0), false
		if f, known := q.files[p.UnitPath(row.file)]; known {
			t, ok = q.FindSymbol(f, row.name)
		}
		if !ok {
			t = next
			next++
		}
		symbols[i] = t
	}
	return symbols
}

// weigh sets the sums of samples in both profiles, by function, by unit and in total.
func (d *differ) weigh() {
	for i := range d.functions {
		f := &d.functions[i]
		for which, side := range f.sides {
			if side != nil {
				f.samples[which] = samplesOf(side.Records)
				f.unit.sides[which].add(f.samples[which])
				d.whole[which].add(f.samples[which])
			}
		}
		switch {
		case f.sides[0] == nil:
			f.unit.gained++
		case f.sides[1] == nil:
			f.unit.lost++
		}
	}
	for _, u := range d.units {
		u.locations.whole = [2]total{u.sides[0].samples, u.sides[1].samples}
	}
}

// compare computes the Diff from the sums of weigh.
func (d *differ) compare() *Diff {
	whole := [2]total{d.whole[0].samples, d.whole[1].samples}
	functions, locations := meter{whole: whole}, meter{whole: whole}
	tally := locationTally{profile: &locations}
	var alike similarity
	var body Body
	diff := new(Diff)
	diff.First, diff.Second = portions(d.whole, whole)
	for i := range d.functions {
		f := &d.functions[i]
		functions.add(f.samples)
		fd := f.diff(whole)
		switch {
		case f.sides[0] == nil:
			tally.alone(1, f.samples[1])
		case f.sides[1] == nil:
			tally.alone(0, f.samples[0])
		default:
			tally.function, tally.unit = &meter{whole: f.samples}, &f.unit.locations
			tally.join(renumber(&body, f.sides[0].Records, d.symbols), f.sides[1].Records)
			fd.Overlap = tally.function.overlap()
		}
		alike.add(fd.Overlap, fd.First.Share, fd.Second.Share)
		diff.Functions = append(diff.Functions, fd)
	}
	sortByChange(diff.Functions, (*FunctionDiff).Change)
	diff.Units = d.unitDiffs(whole)
	diff.Overlap = Overlap{
		Similarity: alike.value(),
		Functions:  functions.overlap(),
		Locations:  locations.overlap(),
		Counts:     tally.counts(),
		OnlyFirst:  tally.only[0].shareOf(whole[0]),
		OnlySecond: tally.only[1].shareOf(whole[1]),
	}
	return diff
}

// diff returns the difference of a function, without its overlap. whole is the total of each
// profile.
func (f *functionPair) diff(whole [2]total) FunctionDiff {
	var sides [2]portion
	for which, side := range f.sides {
		if side != nil {
			sides[which] = portion{1, f.samples[which]}
		}
	}
	fd := FunctionDiff{Path: f.path, Name: f.name}
	fd.First, fd.Second = portions(sides, whole)
	return fd
}

// portions converts the sums of a function or unit in both profiles to Portions. It makes sure that
// equal shares stay equal in spite of rounding.
func portions(sides [2]portion, whole [2]total) (first, second Portion) {
	first, second = sides[0].of(whole[0]), sides[1].of(whole[1])
	if compareShares(sides[0].samples, whole[0], sides[1].samples, whole[1]) == 0 && whole[0] != (total{}) && whole[1] != (total{}) {
		second.Share = first.Share
	}
	return first, second
}

func (d *differ) unitDiffs(whole [2]total) []UnitDiff {
	units := make([]UnitDiff, 0, len(d.units))
	for _, u := range d.units {
		ud := UnitDiff{Path: u.path, Gained: u.gained, Lost: u.lost}
		ud.First, ud.Second = portions(u.sides, whole)
		if ud.First.Functions > 0 && ud.Second.Functions > 0 {
			ud.Overlap = u.locations.overlap()
		}
		units = append(units, ud)
	}
	slices.SortFunc(units, func(u, v UnitDiff) int { return strings.Compare(u.Path, v.Path) })
	sortByChange(units, (*UnitDiff).Change)
	return units
}

// sortByChange sorts by the absolute change, largest first. It keeps the order of equal changes.
func sortByChange[T any](list []T, change func(*T) float64) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Compare(math.Abs(change(&b)), math.Abs(change(&a)))
	})
}
