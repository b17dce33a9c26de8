package slice

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A part is what a slice has of a program.
type part struct {
	symbols []symbol
	samples map[symbolID]profile.Function
	own     *idSet // those that the slice is about
	units   []int
}

// keyOfPart returns the key of a slice.
func keyOfPart(p *wholeProgram, o hashOptions, s part) (uint64, error) {
	m := newSymbolHashes(p, o, s.symbols)
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

// keysOfUnits returns the keys of the slices of each unit alone, by path.
func keysOfUnits(p *wholeProgram, o hashOptions) (map[string]uint64, error) {
	m, err := hashProgram(p, o)
	if err != nil {
		return nil, err
	}
	r := newInlineClosure(m)
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

// version2 is the one in which files, timestamps and the summary do not count.
const version2 = 2

// keyForm is hashed first, and changes whenever what follows it does.
const keyForm = "afdo slice 2"

// key returns the key of a slice of some units, of whose own symbols it has the sum.
func (m *symbolHashes) key(units []int, total uint64) (uint64, error) {
	data := append([]byte(keyForm), m.version)
	if m.version != version2 {
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
