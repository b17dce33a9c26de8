package index

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// runs returns the contents of the block of runs, which are ranges of adjacent sections of a unit.
// If units share a string table, the first one has the run.
func (f *fileSections) runs(units *indexfmt.UnitList) []indexfmt.Run {
	names := f.sections[f.names]
	offsets := make([]int64, len(f.sections))
	for i := 1; i < len(offsets); i++ {
		offsets[i] = offsets[i-1] + f.sections[i-1].size()
	}
	runs := make([]indexfmt.Run, len(units.Entries))
	had := make(map[uint32]bool, len(runs))
	for i, e := range units.Entries {
		r := &runs[i]
		r.Bitmask = wire.SectionBitmask(byte(names.t), names.compact)
		r.Entry = names.data[e.From-1 : e.To-1]
		var u wire.Unit
		fields := wire.Fields{Data: r.Entry, Compact: names.compact}
		fields.Unit(&u)
		if had[u.Strings] || !f.adjacent(&u) {
			continue
		}
		had[u.Strings] = true
		r.First, r.Offset = int(u.Strings), offsets[u.Strings]
		f.addSections(r)
	}
	return runs
}

// adjacent reports whether a unit's symbol names directly follow its string table.
func (f *fileSections) adjacent(u *wire.Unit) bool {
	at := uint64(u.Strings)
	return u.Symbols == u.Strings+1 && at+1 < uint64(len(f.sections)) &&
		f.sections[at].t == afdo.SectionStringTable && f.sections[at+1].t == afdo.SectionSymbolNames
}

// addSections adds the sections of a run: string table, symbol names, and all samples that follow.
func (f *fileSections) addSections(r *indexfmt.Run) {
	end := r.First + 2
	for end < len(f.sections) && f.sections[end].t == afdo.SectionSymbolInfo {
		end++
	}
	for _, s := range f.sections[r.First:end] {
		r.Sizes = append(r.Sizes, s.size())
	}
	r.Names = sumOf(f.sections[r.First : r.First+2])
	r.Infos = sumOf(f.sections[r.First+2 : end])
}

// sumOf returns the checksum of concatenated sections.
func sumOf(sections []section) uint32 {
	var all []byte
	for _, s := range sections {
		all = s.append(all)
	}
	return indexfmt.Sum(all)
}

// size returns the size of the section in the file, in bytes.
func (s *section) size() int64 { return int64(len(s.data)) + 1 }

// append appends the section as stored in the file.
func (s *section) append(dst []byte) []byte {
	return append(append(dst, wire.SectionBitmask(byte(s.t), s.compact)), s.data...)
}
