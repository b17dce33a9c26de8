package slice

import (
	"iter"
	"math"
	"math/bits"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/fingerprint"
	"github.com/go-afdo/afdo/compile/slice/internal/pathmatch"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A Program is a whole profile from which slices are taken. Its methods may be called from many
// goroutines.
//
// After the first question about the whole program, it keeps the data for further ones: some 30
// bytes for each symbol for the names, and 8 for each function inlined into another.
type Program struct {
	whole  *program.Program
	common *commonNames // nil where a slice or two are all that is taken
}

// FromProfile returns the program of a profile in memory, which must not change any more.
func FromProfile(p *profile.Profile) *Program {
	return &Program{whole: program.FromProfile(p), common: new(commonNames)}
}

// FromReader returns the program of a version 4 file. Of the records it reads
// those that a slice holds, and for [Version3] all; of the names all, once.
// The Reader stays the caller's to close.
func FromReader(r *afdo.Reader) (*Program, error) {
	whole, err := program.FromReader(r)
	if err != nil {
		return nil, err
	}
	return &Program{whole: whole}, nil
}

// Units iterates over the paths of the program's units, except the unit of symbols with unknown
// file.
func (p *Program) Units() iter.Seq[string] {
	return func(yield func(string) bool) {
		for unit := range p.whole.Store.NumUnits() {
			if path := p.whole.Store.Path(unit); path != "" && !yield(path) {
				return
			}
		}
	}
}

// Match finds the units of source files. Paths that are not absolute are relative to the folder
// dir, which is absolute.
//
// First choice is the unit with exactly that path, as it is, cleaned, or joined to dir. Otherwise a
// file matches a unit whose path ends in the file's path from dir, without leading "../", and a
// unit with a relative path in which the file's full path ends. Both ends begin at a '/'. If
// several units match, the one that shares the most elements with the end of the full path is
// taken.
//
// It looks at each unit once.
func (p *Program) Match(paths []string, dir string) []Match {
	units := pathmatch.Find(paths, dir, p.Units())
	matches := make([]Match, len(paths))
	for i, name := range paths {
		matches[i] = Match{Path: name, Units: units[i]}
	}
	return matches
}

// HasFunctions reports whether the unit of a path has functions with samples, and not only names
// that other units mention. It reads the symbol names of the unit until one has. The error is that
// of a faulty file.
func (p *Program) HasFunctions(path string) (bool, error) {
	for _, unit := range p.whole.ByPath()[path] {
		for s, err := range p.whole.Store.Symbols(unit) {
			if err != nil || s.HasInfo {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// A Match is what a path of a source file means in a profile.
type Match struct {
	Path string

	// Units are the paths of the units that fit best: one usually, none if the profile knows
	// nothing of the file, several if the choice is ambiguous.
	Units []string
}

// Names is how slices find symbols by unqualified name. A version 4 file whose index has these
// names, see index.Options, lets [FromReader] do without a look at all names and records, if the
// Reader trusts it.
var Names = program.Names

// Fingerprint returns the key of the slice that [Program.Select] returns for q: the xxhash of what
// the slice means to its compiler.
//
// Two slices have the same key if the compiler sees no difference between them, whatever the
// encoding of their profiles, the order of their contents and the numbers of symbols. For
// [Version2], files, timestamps and the summary do not count, and symbols of one name are one. For
// [Version3] all of these count, and so do the functions in which the slice's own functions were
// inlined, which the slice shows only in part. Different slices have the same key with a chance of
// 1 in 2^64 per pair. Somebody who wants to can make two different slices with the same key.
//
// It costs as much as Select. For many units at once, [Program.Fingerprints] is cheaper.
func (p *Program) Fingerprint(q Request) (uint64, error) {
	s, err := p.selectSymbols(q, false)
	if err != nil {
		return 0, err
	}
	return fingerprint.Of(p.whole, q.hashOptions(), fingerprint.Part{Symbols: s.symbols, Samples: s.samples, Own: &s.own, Units: s.units})
}

// hashOptions returns what counts in the key of a request.
func (q *Request) hashOptions() fingerprint.Options {
	o := fingerprint.Options{Version: uint8(q.Target), Bits: q.Bits}
	if q.Text != nil {
		o.MayDefine = q.Text.mayDefine
	}
	return o
}

// Fingerprints returns the keys of all units, by path. Each is the key that [Program.Fingerprint]
// returns for a request of the unit alone. There is always a key for "", the symbols of unknown
// files.
//
// It takes one pass over the profile. Functions that inline each other in a row or in a cycle are
// added up once. Where functions inline many others, each unit takes the time to look at all of
// them. A key depends on the set of functions that can be reached, each counted once. Computing
// that for all units takes about the square of the number of functions for some graphs; a faster
// way would refute the strong exponential time hypothesis. Hashing inlined functions into a
// function's own hash would be linear, but then the key would depend on the path by which a
// function is reached and on the file that has it. Fingerprints needs some 300 bytes for each
// symbol.
func (p *Program) Fingerprints(target Target, bits int) (map[string]uint64, error) {
	q := Request{Target: target, Bits: bits}
	if err := q.check(); err != nil {
		return nil, err
	}
	return fingerprint.OfUnits(p.whole, q.hashOptions())
}

// FingerprintScheme names the keys of units in an index: the keys that [Program.Fingerprint]
// returns for a request of the unit alone and FingerprintTarget.
const (
	FingerprintScheme = fingerprint.Form + " for version 2"
	FingerprintTarget = Version2
)

// implicitNames are the unqualified names of functions that no text spells because the compiler
// creates them: lambdas, assignments and comparisons, conversions, whose names are types, and code
// that runs before and after main. The last line is clang's.
var implicitNames = []string{
	"operator()", "_FUN", "operator=", "operator==", cxx.ConversionKey, cxx.OddKey,
	cxx.Initializing + "0", "__tls_init",
	cxx.Invoker, "__cxx_global_var_init", "__cxx_global_array_dtor",
}

// commonNames keeps the symbols of each unqualified name that texts have asked for twice, each with
// its requirement of a text. Texts of one program share most names, such as those of the standard
// library's functions, and many have a name like begin or operator(). To read a requirement takes
// ten times as long as to compare it with a text.
type commonNames struct{ asked sync.Map } // of *namesakes, by unqualified name

// namesakes are the symbols with one unqualified name. Reading them is left to the second text that
// has the name.
type namesakes struct {
	once sync.Once
	err  error
	all  []requirements
}

// requirements are the words, scopes and functions that a text must have to define a symbol.
type requirements struct {
	program.Symbol
	cut       string   // the canonical name
	words     []uint32 // by hash, as a Text has them
	scopes    []uint32
	functions []string
}

// in calls yield for the symbols with one of the names that a text may define. It returns the names
// that no text has asked for before.
func (c *commonNames) in(t *Text, names []string, renamed bool, x program.Index, yield func(program.Symbol)) (others []string, err error) {
	for _, name := range names {
		known, again := c.asked.LoadOrStore(name, new(namesakes))
		if !again {
			others = append(others, name)
			continue
		}
		same := known.(*namesakes)
		same.once.Do(func() {
			same.err = x.ByKeys([]string{name}, anyName, func(sym program.Symbol) { same.all = append(same.all, requirementsOf(sym)) })
		})
		if same.err != nil {
			return nil, same.err
		}
		for i := range same.all {
			if r := &same.all[i]; t.satisfies(r) || renamed && t.mayDefineRenamed(r.Name) {
				yield(r.Symbol)
			}
		}
	}
	return others, nil
}

func anyName(string) bool { return true }

func requirementsOf(sym program.Symbol) requirements {
	r := requirements{Symbol: sym, cut: symname.Canonical(sym.Name)}
	hashed := func(to *[]uint32) func(string) bool {
		return func(word string) bool {
			*to = append(*to, wordHash(word))
			return true
		}
	}
	needs(r.cut, requirement{hashed(&r.words), hashed(&r.scopes), func(name string) bool {
		r.functions = append(r.functions, name)
		return true
	}})
	return r
}

// satisfies reports whether a text has all of it, or gives a function that name for the assembler.
func (t *Text) satisfies(r *requirements) bool {
	if t.isLabel(r.cut) || t.onlyC && t.has(r.cut) {
		return true
	} else if !t.mayName(r.cut) {
		return false
	}
	for _, function := range r.functions {
		if !t.defines(function) {
			return false
		}
	}
	for _, word := range r.words {
		if _, ok := t.words[word]; !ok {
			return false
		}
	}
	for _, scope := range r.scopes {
		if !t.anyScope && t.words[scope]&usedAsScope == 0 {
			return false
		}
	}
	return true
}

// Summary returns the summary that slices of the program have: the profile's own, computed if it
// has none, unless [Program.WithSummary] has set another one. The caller must not change it.
func (p *Program) Summary() (*afdo.Summary, error) { return p.whole.Summary() }

// WithSummary returns the same program with another summary, which must not change any more. Its
// slices make the same code as the whole profile would with that summary.
func (p *Program) WithSummary(s *afdo.Summary) *Program {
	return &Program{whole: p.whole.WithSummary(s), common: p.common}
}

// hotCutoff is the share of all counts, in parts per million, whose smallest count is the threshold
// of hot code for GCC 16, unless --param=hot-bb-count-ws-permille says otherwise.
const hotCutoff = 990_000

// Steady returns a summary with only what GCC 16 reads of s, rounded so that it stays the same
// while a program and its training input change little: the largest count, rounded up to a power of
// two, and the threshold of hot counts, rounded to the nearest power of two. Everything else is 0,
// and all cutoffs have that threshold.
//
// GCC divides 2^50 by the largest count, and multiplies all counts by the result before it rounds
// fractions of them. Counts at or above the threshold are hot. Without the parameter for another
// threshold GCC reads nothing else of a summary. So the code stays the same while both numbers do.
// With a rounded threshold, some functions are compiled differently than with the exact one.
func Steady(s *afdo.Summary) *afdo.Summary {
	steady := &afdo.Summary{MaxCount: powerAbove(s.MaxCount)}
	threshold := nearestPower(hotCount(s))
	for _, e := range s.Entries {
		steady.Entries = append(steady.Entries, afdo.SummaryEntry{Cutoff: e.Cutoff, MinCount: threshold})
	}
	return steady
}

// hotCount returns the smallest count that GCC 16 takes for hot: the count of the first cutoff that
// reaches hotCutoff, or else of the last cutoff.
func hotCount(s *afdo.Summary) (count uint64) {
	for _, e := range s.Entries {
		if count = e.MinCount; e.Cutoff >= hotCutoff {
			break
		}
	}
	return count
}

// powerAbove returns the smallest power of two that is not below a count, the largest one for
// counts beyond it, and 0 for 0.
func powerAbove(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	return 1 << min(bits.Len64(count-1), 63)
}

// nearestPower returns the power of two with the smallest ratio to a count, or 0 for 0.
func nearestPower(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	below := powerBelow(count)
	if below < 1<<63 && float64(count)/float64(below) >= math.Sqrt2 {
		return 2 * below
	}
	return below
}

// SteadyForClang returns a summary that gives clang nearly the thresholds of s, and stays the same
// while the profile changes little. Each least count is a power of two:
//
//   - up to the cutoff of hot counts, the nearest one;
//   - after it, where clang looks for the threshold of cold counts, the next lower one, and at most
//     half the threshold of hot counts, so that no count is both hot and cold.
//
// The numbers of counts stay on their side of the limits by which clang calls a working set large
// or huge. All totals are 0, because clang does not read them.
func SteadyForClang(s *afdo.Summary) *afdo.Summary {
	steady := new(afdo.Summary)
	hot := nearestPower(hotCount(s))
	for _, e := range s.Entries {
		count := nearestPower(e.MinCount)
		if e.Cutoff > hotCutoff {
			count = min(powerBelow(e.MinCount), hot/2)
		}
		steady.Entries = append(steady.Entries, afdo.SummaryEntry{Cutoff: e.Cutoff, MinCount: count, NumCounts: steadySize(e.NumCounts)})
	}
	return steady
}

// Clang calls the working set large if more counts than the first limit are hot, and huge if more
// than the second one are: -profile-summary-large-working-set-size-threshold and
// -profile-summary-huge-working-set-size-threshold.
const (
	largeWorkingSet = 12_500
	hugeWorkingSet  = 15_000
)

// steadySize rounds a number of counts to a power of two if that is on the same side of the limits
// of working sets.
func steadySize(counts uint64) uint64 {
	rounded := nearestPower(counts)
	switch {
	case counts <= largeWorkingSet:
		return min(rounded, powerBelow(largeWorkingSet))
	case counts <= hugeWorkingSet:
		return hugeWorkingSet
	}
	return max(rounded, powerAbove(hugeWorkingSet))
}

// powerBelow returns the largest power of two that is not above a count, and 0 for 0.
func powerBelow(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	return 1 << (bits.Len64(count) - 1)
}
