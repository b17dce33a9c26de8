package profile

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An Alignment describes which units of two profiles [Align] found to be the same.
type Alignment struct {
	Same  int           // number of units with the same path in both profiles
	Roots []AlignedRoot // folders that correspond to each other, those with the most units first
	Moved []MovedUnit   // units matched by their symbols
}

// An AlignedRoot is a pair of folders that correspond to each other: the first profile has units
// below First, and the second profile has the same units below Second.
type AlignedRoot struct {
	First, Second string // with a trailing slash, or empty
	Units         int    // number of units below the folders with the same relative path
}

// A MovedUnit is a unit that has different paths in two profiles, and that was recognised by its
// symbols. First and Second are its paths in the first and the second profile.
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

// An aligner holds the state of [Align] while it matches the units of two profiles.
type aligner struct {
	sides [2]*alignSide
	paths []string // new path for each unit of the second profile
	done  Alignment
}

// An alignSide holds the symbols of one of the two profiles that [Align] compares, and those of its
// units that have not been matched yet.
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

// symbolsOf returns the names of the symbols of a unit that has not been matched yet. path is the
// path of the unit.
func (s *alignSide) symbolsOf(path string) []string { return s.symbols[s.open[path]] }

// match records that two units are the same. first and second are their paths in the first and the
// second profile.
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

// roots is a pair of folders: one of the first profile and one of the second. For example, the
// paths "/a/src/x.c" and "/b/src/x.c" have the roots "/a/" and "/b/". Each root ends with a slash
// or is empty.
type roots struct{ first, second string }

// Limits for profiles in which many units have the same file name. Units beyond the limits can
// still be matched by their symbols.
const (
	maxAlike = 16 // maximum number of units with one file name that propose roots
	maxRoots = 64
)

// sameRoots matches the units of two profiles whose paths are the same below two corresponding
// folders. Every two units with the same file name propose a pair of folders, see [rootsOf]. The
// pairs that most units propose are tried first.
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

// proposed returns the pairs of folders that [aligner.sameRoots] tries, and how many pairs of units
// propose each.
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

// rootsOf returns what is left of two paths without their longest common ending. The ending
// consists of whole path elements. For example, rootsOf("/a/src/x.c", "/b/src/x.c") returns "/a/"
// and "/b/".
func rootsOf(first, second string) roots {
	common := 0
	for n := 1; n <= min(len(first), len(second)) && first[len(first)-n] == second[len(second)-n]; n++ {
		if beginsName(first, n) && beginsName(second, n) {
			common = n
		}
	}
	return roots{first[:len(first)-common], second[:len(second)-common]}
}

// beginsName reports whether the last n bytes of a path begin with a whole path element. For
// example, the last 3 bytes of "src/x.c" do, and the last 2 do not.
func beginsName(path string, n int) bool { return n == len(path) || path[len(path)-n-1] == '/' }

// below returns the pairs of unmatched units whose paths are the same below the two folders of r.
func (a *aligner) below(r roots) (units []MovedUnit) {
	for first := range a.sides[0].open {
		rest, ok := strings.CutPrefix(first, r.first)
		if _, there := a.sides[1].open[r.second+rest]; ok && there {
			units = append(units, MovedUnit{first, r.second + rest})
		}
	}
	return units
}

// haveCommon reports whether the two units of a pair have a symbol of the same name.
func (a *aligner) haveCommon(u MovedUnit) bool {
	names := make(map[string]bool)
	for _, name := range a.sides[0].symbolsOf(u.First) {
		names[name] = true
	}
	return slices.ContainsFunc(a.sides[1].symbolsOf(u.Second), func(name string) bool { return names[name] })
}

// sameSymbols matches units that have at least half of their symbols in common. It counts only
// symbols that occur in a single unmatched unit of each profile.
func (a *aligner) sameSymbols() {
	owners := [2]map[string]string{a.sides[0].unitOfSymbol(), a.sides[1].unitOfSymbol()}
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
		if a.areOpen(u) && 2*common[u] >= min(len(a.sides[0].symbolsOf(u.First)), len(a.sides[1].symbolsOf(u.Second))) {
			a.done.Moved = append(a.done.Moved, u)
			a.match(u.First, u.Second)
		}
	}
}

// areOpen reports whether both units of a pair are still unmatched.
func (a *aligner) areOpen(u MovedUnit) bool {
	_, first := a.sides[0].open[u.First]
	_, second := a.sides[1].open[u.Second]
	return first && second
}

// unitOfSymbol returns the path of the unit of each symbol, by the name of the symbol. It covers
// the unmatched units. The path is "" for a symbol that several units have, and for main, which
// every program has.
func (s *alignSide) unitOfSymbol() map[string]string {
	owners := map[string]string{"main": ""}
	for path := range s.open {
		for _, name := range s.symbolsOf(path) {
			owner := path
			if _, several := owners[name]; several {
				owner = ""
			}
			owners[name] = owner
		}
	}
	return owners
}
