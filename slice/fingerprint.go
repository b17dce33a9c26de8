package slice

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
)

// Fingerprint returns the key of the slice that [Program.Select] takes: the
// xxhash of what the slice means to the compiler it is for.
//
// Two slices have the same key if that compiler sees no difference, whatever the encoding of their
// profiles, the order of things in them, and the numbers these give to symbols. For [Version2]
// neither files nor timestamps nor the summary count, and symbols of one name are one; for
// [Version3] all of it counts, and in which other functions the slice's own were inlined, of which
// the slice tells less. Slices that differ have different keys but for one chance in 2^64 a pair;
// somebody who wants to can make two that do not.
//
// It costs what Select costs. Many units at once are cheaper by [Program.Fingerprints].
func (p *Program) Fingerprint(q Request) (uint64, error) {
	s, err := p.selectSymbols(q, false)
	if err != nil {
		return 0, err
	}
	m := newMeanings(p, q, s.symbols)
	for i, sym := range s.symbols {
		if err := m.read(i, s.samples[sym.id]); err != nil {
			return 0, err
		}
	}
	m.finish()
	total := uint64(0)
	seen := make(map[int32]struct{})
	for i, sym := range s.symbols {
		n := m.nodeOf[i]
		if _, again := seen[n]; s.own.has(sym.id) && !again {
			seen[n] = struct{}{}
			total += m.nodes[n].whole()
		}
	}
	return m.key(s.units, total)
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
	m, err := p.meanings(q)
	if err != nil {
		return nil, err
	}
	r := newReach(m)
	keys := make(map[string]uint64, p.source.numUnits()+1)
	key := func(path string, from []int) (err error) {
		keys[path], err = m.key(p.byPath()[path], r.total(from))
		return err
	}
	if err := key("", nil); err != nil {
		return nil, err
	}
	for path, units := range p.byPath() {
		if path == "" {
			continue
		}
		if err := key(path, units); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// fingerprintForm is hashed first, and changes whenever what follows it does.
const fingerprintForm = "afdo slice 2"

// key returns the key of a slice of some units, of whose own symbols it has the sum.
func (m *meanings) key(units []int, total uint64) (uint64, error) {
	data := append([]byte(fingerprintForm), byte(m.target))
	if m.target != Version2 {
		s, err := m.source.summary()
		if err != nil {
			return 0, err
		}
		data = appendSummary(data, quantizeSummary(s, m.bits))
		seen := make(map[int]struct{}, len(units))
		for _, unit := range units {
			unit = m.firstOf[unit]
			if _, again := seen[unit]; !again {
				seen[unit] = struct{}{}
				total += m.fileHash(unit)
			}
		}
	}
	return xxhash.Sum64(binary.LittleEndian.AppendUint64(data, total)), nil
}

func appendSummary(data []byte, s *afdo.Summary) []byte {
	for _, v := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		data = binary.AppendUvarint(data, v)
	}
	for _, e := range s.Entries {
		data = binary.AppendUvarint(data, uint64(e.Cutoff))
		data = binary.AppendUvarint(data, e.MinCount)
		data = binary.AppendUvarint(data, e.NumCounts)
	}
	return data
}
