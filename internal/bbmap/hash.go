package bbmap

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// SteadyMask selects the bits of a block's hash that are the same in every compile of the same
// code: 16 bits about the blocks around it and 16 bits about its instructions. Of the other bits,
// 16 are the offset of the block, which a layout changes, and 16 are about operands and differ
// between two runs of clang 22.
const SteadyMask = 0xffff0000ffff0000

// SteadyHashes clears the bits of all block hashes that [SteadyMask] does not select, so that two
// runs of clang give the same object file. file is the content of the file from which the map was
// read. SteadyHashes changes these bytes, and reports whether any byte has changed.
func (m *Map) SteadyHashes(file []byte) (changed bool, err error) {
	for _, s := range m.sections {
		if err := s.load(); err != nil {
			return changed, err
		}
		start := s.file.Sections[s.index].Offset
		if start > uint64(len(file)) || uint64(len(s.data)) > uint64(len(file))-start {
			return changed, fmt.Errorf("bbmap: %w: it has no section %d", fault.ErrChanged, s.index)
		}
		data := file[start : start+uint64(len(s.data))]
		order := s.file.ByteOrder
		d := decoder{hashAt: func(at int) {
			hash := order.Uint64(data[at:])
			changed = changed || hash&^SteadyMask != 0
			order.PutUint64(data[at:], hash&SteadyMask)
		}}
		for at := uint64(0); at < uint64(len(data)); {
			if _, at, err = d.function(s, at); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}
