package builder

import (
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/wire"
	"github.com/go-afdo/afdo/profile"
)

// A file is a profile on its way into a file: what stands where, under which numbers.
type file struct {
	profile *profile.Profile
	units   []unit            // by FileRef
	byPath  []profile.FileRef // the units by ascending path
	layout  []profile.FileRef // the units in the order of their sections
	ids     []uint32          // symbol IDs by SymbolRef
}

// newFile sorts the units of a profile by path and the symbols of each unit by name. IDs and the
// order of the sections are still to be decided.
func newFile(p *profile.Profile) (*file, error) {
	if err := checkTotals(uint64(p.NumFiles()), uint64(p.NumSymbols()), uint64(p.NumFunctions())); err != nil {
		return nil, err
	}
	f := &file{profile: p, ids: make([]uint32, p.NumSymbols())}
	if err := f.collectUnits(); err != nil {
		return nil, err
	}
	return f, nil
}

const (
	fixedSections = 2 // summary and file names
	unitSections  = 2 // string table and symbol names of each unit
)

// checkTotals refuses what 32 bits cannot number: the end of the symbol IDs, and the sections, of
// which none may have the index that says no info (format note 12).
func checkTotals(units, symbols, functions uint64) error {
	if symbols > math.MaxUint32 {
		return fmt.Errorf("builder: %w: the IDs of %d symbols do not fit 32 bits", ErrUnrepresentable, symbols)
	}
	if n := fixedSections + unitSections*units + functions; n > wire.NoInfo {
		return fmt.Errorf("builder: %w: the indices of %d sections do not fit 32 bits", ErrUnrepresentable, n)
	}
	return nil
}

// write encodes the units in the order of the layout, then the two sections about all of them.
// These come last because only the header refers to them: the indices and offsets before them stay
// smaller, which counts in a compact file.
func (f *file) write(w io.Writer, o Options) error {
	e := encoder{file: f, out: afdo.NewWriter(o.Compact), section: wire.Encoder{Compact: o.Compact}}
	for _, ref := range f.layout {
		if err := e.unit(ref); err != nil {
			return err
		}
	}
	e.fileNames()
	e.summary()
	if _, err := e.out.WriteTo(w); err != nil {
		return fmt.Errorf("builder: %w", err)
	}
	return nil
}

// An encoder puts sections into the file. Its methods stand beside what they encode.
type encoder struct {
	*file
	out     *afdo.Writer
	section wire.Encoder // the one at hand
	trie    trie
	nest    nest
}

// add adds the section at hand to the file and returns its index. The next one begins.
func (e *encoder) add(t afdo.SectionType) (index uint32) {
	index = e.out.Add(t, e.section.Compact, e.section.Data)
	e.section.Data = e.section.Data[:0]
	return index
}

// summary puts the summary section.
func (e *encoder) summary() {
	s := e.profile.Summary
	if s == nil {
		s = e.profile.Summarize()
	}
	w := wire.Summary{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFunctionCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions,
	}
	for _, entry := range s.Entries {
		w.Entries = append(w.Entries, wire.SummaryEntry(entry))
	}
	e.section.Summary(&w)
	e.add(afdo.SectionSummary)
}
