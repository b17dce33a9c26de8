package instrprof

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Slice is the part of an indexed profile that the compile of one module uses.
type Slice struct {
	profile   *Profile
	version   uint32
	summaries [2]*Summary // of plain and of context-sensitive records
}

// NumRecords returns the number of records.
func (s *Slice) NumRecords() int { return s.profile.NumRecords() }

// Slice returns the part of a file that clang reads for a module: the functions whose names are
// wanted. It keeps flags, names of virtual tables, and the summaries, from which clang computes
// thresholds. It leaves out traces and binary IDs, which no compile uses.
//
// Slice passes over all names in the file, and takes memory for the wanted functions. A file of a
// version before 12, one with a MemProf section, or a wanted function with uniformity bits gives an
// error that matches afdo.ErrUnrepresentable.
func (r *Reader) Slice(wanted func(name string) bool) (*Slice, error) {
	h := r.header
	if h.Version < versionVTables || h.Flags&HasMemProf != 0 {
		return nil, fmt.Errorf("instrprof: a slice of version %d with flags %v: %w", h.Version, h.Flags, fault.ErrUnrepresentable)
	}
	s := &Slice{profile: new(Profile), version: h.Version, summaries: [2]*Summary{r.summary, r.cs}}
	if err := s.profile.addFlags(h.Flags); err != nil {
		return nil, err
	}
	var f fields // outside of the loop, to be allocated once
	for e, err := range r.table.Entries(true, func(_ uint64, name []byte) bool { return wanted(string(name)) }) {
		if err != nil {
			return nil, err
		}
		f.open(&e)
		for f.Err == nil && f.Rest() > 0 {
			rec := f.record(h.Version, e.Key)
			if f.Err == nil && rec.uniform {
				f.Stop(fmt.Errorf("instrprof: a slice with the uniformity bits of %v: %w", rec, fault.ErrUnrepresentable))
			}
			if f.Err == nil {
				f.Stop(s.profile.add(e.Hash, rec, 1))
			}
		}
		if err := f.err(); err != nil {
			return nil, err
		}
	}
	names, err := r.VTableNames()
	s.profile.addVTableNames(names)
	return s, err
}

// Write writes the slice as an indexed file, in the version of the original. The output is
// deterministic.
func (s *Slice) Write(w io.Writer) error {
	x := newIndexedWriter(s.profile, IndexedOptions{Version: s.version, VTableNames: true}, s.summaries)
	return x.writeTo(w)
}
