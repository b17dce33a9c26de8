package slice

import (
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/fingerprint"
	"github.com/go-afdo/afdo/compile/slice/internal/pathmatch"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
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
