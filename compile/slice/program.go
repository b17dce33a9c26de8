package slice

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/fingerprint"
	"github.com/go-afdo/afdo/compile/slice/internal/pathmatch"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A Program is a whole profile from which slices are selected. Its methods may be called from many
// goroutines.
//
// The first call that searches the whole program builds tables, which later calls use. They need
// some 30 bytes for each symbol, and 8 for each function that is inlined into another.
type Program struct {
	whole  *program.Program
	common *commonNames // nil for a file, of which a process usually selects one or two slices
}

// FromProfile returns a [Program] for a profile in memory, from which slices can then be selected.
// The profile must not change any more.
func FromProfile(p *profile.Profile) *Program {
	return &Program{whole: program.FromProfile(p), common: new(commonNames)}
}

// FromReader returns the program of a version 4 profile. It reads lazily: the records of the
// functions in slices, or for [Version3] all records once, and all names once. If the Reader trusts
// an index with [Names], that index replaces reading all names and records. The caller still has to
// close the Reader.
func FromReader(r *afdo.Reader) (*Program, error) {
	whole, err := program.FromReader(r)
	if err != nil {
		return nil, err
	}
	return &Program{whole: whole}, nil
}

// Indexed reports whether the program finds symbols by the index of a version 4 file. If not, the
// first search reads all names and records.
func (p *Program) Indexed() bool { return p.whole.Indexed() }

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
// dir, which must be absolute.
//
// A unit matches a source file in one of three ways. Only the units with the best match are
// returned, which is the first of these ways that any unit has:
//
//   - the unit's path is exactly the given path
//   - the unit's path, cleaned, is the given path, cleaned or joined to dir
//   - the unit's path ends in the file's path relative to dir, without leading "../", or the unit's
//     path is relative and the file's full path ends in it; both ends must begin at a '/'
//
// If several units match in the third way, those are returned that share the most elements with the
// end of the full path.
//
// Match looks at each unit once.
func (p *Program) Match(paths []string, dir string) []Match {
	units := pathmatch.Find(paths, dir, p.Units())
	matches := make([]Match, len(paths))
	for i, name := range paths {
		matches[i] = Match{Path: name, Units: units[i]}
	}
	return matches
}

// HasFunctions reports whether any function of the unit at a path has samples. A unit may also
// contain only names that other units refer to. It reads the symbol names of the unit up to the
// first such function. An error means that the file is malformed.
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

// A Match is the result of [Program.Match] for one source file.
type Match struct {
	Path string

	// Units are the paths of the units that match best: usually one, none if the profile has no
	// unit of the file, or several if they match equally well.
	Units []string
}

// Names returns the scheme [Names], with a cache for the results that are slow to compute. If an
// index and its fingerprints are both computed with this scheme, that takes less time.
func (p *Program) Names() index.Scheme {
	return index.Scheme{Name: Names.Name, Unqualified: p.whole.Index.KeyOf}
}

// Names is the scheme by which this package finds symbols by unqualified name. If the index of a
// version 4 profile has these names, see index.Options, and the Reader trusts the index,
// [FromReader] need not read all names and records of the file.
var Names = program.Names

// Fingerprint returns the key of the slice that [Program.Select] returns for q: a hash of
// everything in the slice that affects its compiler.
//
// Two slices have the same key if the compiler sees no difference between them, whatever the
// encoding of their profiles, the order of their contents and the numbers of symbols. For
// [Version2], the hash ignores files, timestamps and the summary, and symbols of one name are one.
// For [Version3] it includes all of these, and the functions of other units in which functions of
// the compile were inlined, which the slice shows only in part. Different slices have the same key
// with a chance of 1 in 2^64 per pair. The hash does not protect against somebody who makes two
// different slices with the same key on purpose.
//
// It takes as long as Select. For many units at once, [Program.Fingerprints] is faster.
func (p *Program) Fingerprint(q Request) (uint64, error) {
	s, err := p.selectSymbols(q, false)
	if err != nil {
		return 0, err
	}
	return fingerprint.Of(p.whole, q.hashOptions(), fingerprint.Part{Symbols: s.symbols, Samples: s.samples, Own: &s.own, Units: s.units})
}

// hashOptions returns those fields of a request that affect the fingerprint of its slice.
func (q *Request) hashOptions() fingerprint.Options {
	o := fingerprint.Options{Version: uint8(q.Target), Bits: q.Bits}
	if q.Text != nil {
		o.MayDefine = q.Text.mayDefine
	}
	return o
}

// Fingerprints returns the keys of all units, by path. Each is the key that [Program.Fingerprint]
// returns for a request with only that unit. The result always has a key for "", the symbols whose
// file is unknown.
//
// It takes one pass over the profile. Functions that inline each other in a row or in a cycle are
// added up once. Where functions inline many others, each unit takes the time to visit all of them.
// The key of a unit depends on the set of functions that its functions inline directly and
// indirectly, each counted once. Computing that for all units takes about the square of the number
// of functions for some graphs; a faster way would refute the strong exponential time hypothesis.
// Hashing inlined functions into a function's own hash would be linear, but then the key would
// depend on the path by which a function is reached and on the file that has it. Fingerprints needs
// some 300 bytes for each symbol.
func (p *Program) Fingerprints(target Target, bits int) (map[string]uint64, error) {
	q := Request{Target: target, Bits: bits}
	if err := q.check(); err != nil {
		return nil, err
	}
	return fingerprint.OfUnits(p.whole, q.hashOptions())
}

// FingerprintScheme names, in an index, the method by which the keys of units were computed: they
// are those that [Program.Fingerprint] returns for a request with only the unit and the target
// FingerprintTarget.
const (
	FingerprintScheme = fingerprint.Form + " for version 2"
	FingerprintTarget = Version2
)
