// Package fingerprint computes the keys of slices of a profile: hashes of everything in a slice
// that affects its compiler, for one slice or for all units of a program in one pass.
package fingerprint

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/profile"
)

// A Part is the content of a slice of a profile, of which [Of] computes the key.
type Part struct {
	Symbols []program.Symbol                // all symbols of the slice
	Samples map[program.ID]profile.Function // samples of those symbols that have some
	Own     *program.IDSet                  // symbols that the compile may define; others only affect how these are found
	Units   []int                           // units whose functions the slice contains
}

// Of returns the key of a slice of a profile: a hash of everything in the slice that affects the
// compiler.
func Of(p *program.Program, o Options, s Part) (uint64, error) {
	m := newSymbolHashes(p, o, s.Symbols)
	for i, sym := range s.Symbols {
		if err := m.read(i, s.Samples[sym.ID]); err != nil {
			return 0, err
		}
	}
	m.finish()
	total := uint64(0)
	seen := make(map[int32]struct{})
	for i, sym := range s.Symbols {
		n := m.nodeOf[i]
		if _, again := seen[n]; s.Own.Has(sym.ID) && !again {
			seen[n] = struct{}{}
			total += m.nodes[n].whole()
		}
	}
	return m.key(s.Units, total)
}

// OfUnits returns, for each unit alone, the key of its slice of the profile, by path.
func OfUnits(p *program.Program, o Options) (map[string]uint64, error) {
	m, err := hashProgram(p, o)
	if err != nil {
		return nil, err
	}
	r := newInlineClosure(m)
	keys := make(map[string]uint64, p.Store.NumUnits()+1)
	key := func(path string, from []int) (err error) {
		keys[path], err = m.key(p.ByPath()[path], r.total(from))
		return err
	}
	if err := key("", nil); err != nil {
		return nil, err
	}
	for path, units := range p.ByPath() {
		if path == "" {
			continue
		}
		if err := key(path, units); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// version2 is the version of the format in which files, timestamps and the summary do not affect
// the compiler.
const version2 = 2

// Form is the version of the computation of keys, and the first part of what is hashed.
const Form = "afdo slice 2"

// key returns the key of the slice of a profile for some units. total is the sum of the hashes of
// those symbols in the slice that the compile may define.
func (m *symbolHashes) key(units []int, total uint64) (uint64, error) {
	data := append([]byte(Form), m.Version)
	if m.Version != version2 {
		s, err := m.Summary()
		if err != nil {
			return 0, err
		}
		data = appendSummary(data, quantize.Summary(s, m.Bits))
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

// appendSummary appends the numbers of a summary to data, of which the key of a slice is the hash.
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
