package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/saturating"
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

// A Portion contains the samples that a function, a unit or a whole profile has in one of the two
// compared profiles.
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

// A differ holds the state while NewDiff compares two profiles. Arrays of two have a value for each
// profile.
type differ struct {
	functions []functionPair
	units     map[string]*unitPair
	sides     [2]Portion  // the whole profiles
	symbols   []SymbolRef // for each symbol of the first profile its number in the second, or a number that the second does not use
}

// A functionPair is a function in two profiles. functions has nil for a profile that does not have
// the function.
type functionPair struct {
	path, name string
	functions  [2]*Function
	sides      [2]Portion
	unit       *unitPair
}

type unitPair struct {
	path         string
	sides        [2]Portion
	gained, lost int
	locations    meter
}

// add adds a function to a sum: it counts the function and adds its samples. It does not change the
// share.
func (p *Portion) add(samples uint64) {
	p.Functions++
	p.Samples = saturating.Add(p.Samples, samples)
}

// match pairs the functions of two profiles that have the same unit and name. A function that only
// one profile has gets a pair of its own.
func (d *differ) match(first, second *Profile) {
	matched := make([]bool, second.NumSymbols())
	d.symbols = numberLike(first, second)
	for s, f := range first.Functions() {
		pair := functionPair{functions: [2]*Function{f, nil}}
		if t := d.symbols[s]; int(t) < len(matched) {
			matched[t] = true
			pair.functions[1] = second.Function(t)
		}
		d.add(first, s, pair)
	}
	for t, g := range second.Functions() {
		if !matched[t] {
			d.add(second, t, functionPair{functions: [2]*Function{nil, g}})
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

// numberLike returns, for each symbol of p, the number of the symbol with the same unit and name in
// q. A symbol that q does not have gets a number that q does not use.
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

// weigh sums the samples of each profile by function, by unit and in total. Then it computes the
// share of each function and unit in the total.
func (d *differ) weigh() {
	for i := range d.functions {
		f := &d.functions[i]
		for which, function := range f.functions {
			if function != nil {
				samples := samplesOf(function.Records)
				f.sides[which].add(samples)
				f.unit.sides[which].add(samples)
				d.sides[which].add(samples)
			}
		}
		switch {
		case f.functions[0] == nil:
			f.unit.gained++
		case f.functions[1] == nil:
			f.unit.lost++
		}
	}
	whole := samplesOfBoth(d.sides)
	for i := range d.functions {
		setShares(&d.functions[i].sides, whole)
	}
	for _, u := range d.units {
		setShares(&u.sides, whole)
		u.locations.whole = samplesOfBoth(u.sides)
	}
	setShares(&d.sides, whole)
}

func samplesOfBoth(sides [2]Portion) [2]uint64 {
	return [2]uint64{sides[0].Samples, sides[1].Samples}
}

// setShares sets the shares of a function, of a unit or of a whole profile. sides has the samples
// in each of the two profiles, and whole has all samples of each profile. Two shares that are
// exactly equal stay equal in spite of rounding.
func setShares(sides *[2]Portion, whole [2]uint64) {
	for which := range sides {
		sides[which].Share = shareOf(sides[which].Samples, whole[which])
	}
	if compareShares(sides[0].Samples, whole[0], sides[1].Samples, whole[1]) == 0 && whole[0] > 0 && whole[1] > 0 {
		sides[1].Share = sides[0].Share
	}
}

// compare makes the [Diff] of two profiles from the sums that weigh has computed.
func (d *differ) compare() *Diff {
	whole := samplesOfBoth(d.sides)
	functions, locations := meter{whole: whole}, meter{whole: whole}
	tally := locationTally{profile: &locations}
	var alike similarity
	var body Body
	diff := &Diff{First: d.sides[0], Second: d.sides[1]}
	for i := range d.functions {
		f := &d.functions[i]
		samples := samplesOfBoth(f.sides)
		functions.add(samples)
		fd := FunctionDiff{Path: f.path, Name: f.name, First: f.sides[0], Second: f.sides[1]}
		switch {
		case f.functions[0] == nil:
			tally.alone(1, samples[1])
		case f.functions[1] == nil:
			tally.alone(0, samples[0])
		default:
			tally.function, tally.unit = &meter{whole: samples}, &f.unit.locations
			tally.join(body.Renumber(f.functions[0].Records, d.symbols), f.functions[1].Records)
			fd.Overlap = tally.function.overlap()
		}
		alike.add(fd.Overlap, fd.First.Share, fd.Second.Share)
		diff.Functions = append(diff.Functions, fd)
	}
	sortByChange(diff.Functions, (*FunctionDiff).Change)
	diff.Units = d.unitDiffs()
	diff.Overlap = Overlap{
		Similarity: alike.value(),
		Functions:  functions.overlap(),
		Locations:  locations.overlap(),
		Counts:     tally.counts(),
		OnlyFirst:  shareOf(tally.only[0], whole[0]),
		OnlySecond: shareOf(tally.only[1], whole[1]),
	}
	return diff
}

func (d *differ) unitDiffs() []UnitDiff {
	units := make([]UnitDiff, 0, len(d.units))
	for _, u := range d.units {
		ud := UnitDiff{Path: u.path, First: u.sides[0], Second: u.sides[1], Gained: u.gained, Lost: u.lost}
		if ud.First.Functions > 0 && ud.Second.Functions > 0 {
			ud.Overlap = u.locations.overlap()
		}
		units = append(units, ud)
	}
	slices.SortFunc(units, func(u, v UnitDiff) int { return strings.Compare(u.Path, v.Path) })
	sortByChange(units, (*UnitDiff).Change)
	return units
}

// sortByChange sorts functions or units by the absolute value of change, largest first. It keeps
// the order of those with equal changes.
func sortByChange[T any](list []T, change func(*T) float64) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Compare(math.Abs(change(&b)), math.Abs(change(&a)))
	})
}
