package slice

import "github.com/go-afdo/afdo/slice/internal/fingerprint"

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
