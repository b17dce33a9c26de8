package slice

import "github.com/go-afdo/afdo/slice/internal/fingerprint"

// Fingerprint returns the key of the slice that [Program.Select] takes: the
// xxhash of what the slice means to the compiler it is for.
//
// Two slices have the same key if that compiler sees no difference, whatever the encoding of their
// profiles, the order of things in them, and the numbers these give to symbols. For [Version2]
// neither files nor timestamps nor the summary count, and symbols of one name are one; for
// [Version3] all of it counts, and in which other functions the slice's own were inlined, of which
// the slice tells less. Slices that differ have different keys but for one chance in 2^64 a pair;
// whoever wants to can make two different slices with the same key.
//
// It costs what Select costs. Many units at once are cheaper by [Program.Fingerprints].
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

// Fingerprints returns the keys of all units, by path: those that [Program.Fingerprint] has
// for a request of the unit alone. There is one for "" in any case, the symbols of unknown files.
//
// It takes one pass over the profile. What functions inline in a row or in a circle is summed up
// once; where they inline many others each, every unit takes the time to look at those. A key
// says which functions can be reached, each once, and to count these from everywhere takes, for
// graphs of any shape, about the square of their number: less would refute the strong exponential
// time hypothesis. To hash what a function inlines into its own hash would be linear, but then
// the key would tell by which way a function is reached, and which file has it. It needs some 300
// bytes a symbol.
func (p *Program) Fingerprints(target Target, bits int) (map[string]uint64, error) {
	q := Request{Target: target, Bits: bits}
	if err := q.check(); err != nil {
		return nil, err
	}
	return fingerprint.OfUnits(p.whole, q.hashOptions())
}

// FingerprintScheme names the keys that an index may have of units: those of
// [Program.Fingerprint] for a request of the unit alone and FingerprintTarget.
const (
	FingerprintScheme = fingerprint.Form + " for version 2"
	FingerprintTarget = Version2
)
