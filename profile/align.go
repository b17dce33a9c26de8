package profile

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An Alignment says how the units of two profiles were found to be the same.
type Alignment struct {
	Same  int           // units that have one path in both
	Roots []AlignedRoot // folders that stand for each other, those with the most units first
	Moved []MovedUnit   // units that have the same symbols
}

// An AlignedRoot is a folder of the first profile and the one that the second has instead.
type AlignedRoot struct {
	First, Second string // with the slash at the end, or empty
	Units         int    // below it, by the same path from there
}

// A MovedUnit is a unit of the first profile and the one that has its functions in the second.
type MovedUnit struct{ First, Second string }

// Align gives the units of second the paths that first has for the same units, such as two builds
// of one program in two folders have them. Units are the same if their paths are; if the paths
// are the same but for where they begin, as those of other units are; or else if at least half of
// the symbols of one are symbols of the other and of no third unit. It takes some 100 bytes a
// symbol.
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

// An aligner finds the same units in two profiles.
type aligner struct {
	sides [2]*alignSide
	paths []string // of the second profile's units, as they are going to be
	done  Alignment
}

// An alignSide is what one profile has.
type alignSide struct {
	symbols [][]string         // names by unit
	open    map[string]UnitRef // units that are not matched yet, by path
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

// named returns the names of the symbols of a unit.
func (s *alignSide) named(path string) []string { return s.symbols[s.open[path]] }

// match takes two units for the same.
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

// roots are the two beginnings of paths that end alike: folders with a slash, or nothing.
type roots struct{ first, second string }

// Limits for profiles of many units whose names are the same: what has more is left to the names of
// functions.
const (
	maxAlike = 16 // units of one name that propose roots
	maxRoots = 64
)

// sameRoots matches units below folders that stand for each other. Folders that units propose by
// paths that end alike are tried in the order of how many do.
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

// proposed counts how many pairs of units would be the same if two folders were.
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

// rootsOf takes off two paths what they have in common at the end, in whole names.
func rootsOf(first, second string) roots {
	common := 0
	for n := 1; n <= min(len(first), len(second)) && first[len(first)-n] == second[len(second)-n]; n++ {
		if beginsName(first, n) && beginsName(second, n) {
			common = n
		}
	}
	return roots{first[:len(first)-common], second[:len(second)-common]}
}

// beginsName reports whether the last n bytes of a path begin with the whole of a name.
func beginsName(path string, n int) bool { return n == len(path) || path[len(path)-n-1] == '/' }

// below lists the units that have the same paths below two folders.
func (a *aligner) below(r roots) (units []MovedUnit) {
	for first := range a.sides[0].open {
		rest, ok := strings.CutPrefix(first, r.first)
		if _, there := a.sides[1].open[r.second+rest]; ok && there {
			units = append(units, MovedUnit{first, r.second + rest})
		}
	}
	return units
}

// haveCommon reports whether two units have a symbol of the same name.
func (a *aligner) haveCommon(u MovedUnit) bool {
	names := make(map[string]bool)
	for _, name := range a.sides[0].named(u.First) {
		names[name] = true
	}
	return slices.ContainsFunc(a.sides[1].named(u.Second), func(name string) bool { return names[name] })
}

// sameSymbols matches units by names of symbols that no other unit of their profile has.
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

// areOpen reports whether two units are not matched yet.
func (a *aligner) areOpen(u MovedUnit) bool {
	_, first := a.sides[0].open[u.First]
	_, second := a.sides[1].open[u.Second]
	return first && second
}

// owners returns which unit that is not matched has a symbol, "" for what several have, and for
// main, which every program has.
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
