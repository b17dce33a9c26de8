// Package budget limits how much is read from a version 4 file whose parts refer to the same bytes
// many times.
//
// In a valid file every section belongs to one unit or symbol, so the data is bounded by the size
// of the file. In a hostile file many symbols may share one section, and names in a string table
// may share long prefixes. A reader of a whole file therefore has a budget for the bytes of
// samples, 16 times the file and 1 MiB, and one for the bytes of names, 64 times the file and 16
// MiB. Both leave room for odd files, and for a slice that reads a function a few times.
package budget

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

const (
	samplesPerByte = 16
	freeSamples    = 1 << 20
)

// A Budget limits how much is read of one file. All methods may be called concurrently.
type Budget struct {
	names   atomic.Int64
	samples atomic.Int64

	size     int64 // of the file, which has fewer sections
	mu       sync.Mutex
	sections wire.BitSet // sections that symbols and units refer to
	found    bool        // a symbol has samples, a head count or a timestamp
}

// New returns the budget for a file of size bytes.
func New(size int64) *Budget {
	b := &Budget{size: size}
	b.names.Store(v4.MaxSpelled(size))
	b.samples.Store(freeSamples + samplesPerByte*size)
	return b
}

// sharedUnit is the cost, in bytes of names, of a unit whose string table or symbol names also
// belong to another unit. Such a unit takes 18 bytes in the file, but up to 2 KiB of memory while
// an index is made.
const sharedUnit = 2 << 10

// Unit subtracts the cost of a unit from the budget for names. A unit costs something only if it
// shares its string table or symbol names with another unit. The error is [afdo.ErrLimit] if the
// budget is used up.
func (b *Budget) Unit(u *afdo.Unit) error {
	strings, symbols := u.SectionIndexes()
	b.mu.Lock()
	defer b.mu.Unlock()
	if (b.sections.Has(uint32(strings)) || b.sections.Has(uint32(symbols))) && b.names.Add(-sharedUnit) < 0 {
		return fmt.Errorf("too many units share their tables: %w", afdo.ErrLimit)
	}
	b.reached(strings)
	b.reached(symbols)
	return nil
}

// Name subtracts the length of a symbol's name from the budget for names. The error is
// [afdo.ErrLimit] if the budget is used up.
func (b *Budget) Name(name string) error {
	if b.names.Add(-int64(len(name))) < 0 {
		return fmt.Errorf("the names of the symbols are too long for a file of its size: %w", afdo.ErrLimit)
	}
	return nil
}

// Samples subtracts the size of the section with a function's samples from the budget for samples.
// The error is [afdo.ErrLimit] if the budget is used up.
func (b *Budget) Samples(info afdo.Info) error {
	if b.samples.Add(-info.Section().Size) < 0 {
		return fmt.Errorf("too many symbols share the sections of their samples: %w", afdo.ErrLimit)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reached(info.Section().Index)
	b.found = b.found || info.HeadCount|info.Timestamp != 0 || info.Cursor().Next()
	return nil
}

// reached records that a unit or symbol refers to a section, for End. It ignores a section that the
// file cannot have: reading that section gives an error.
func (b *Budget) reached(section int) {
	if int64(section) >= b.size {
		return
	}
	for len(b.sections) <= section/64 {
		b.sections = append(b.sections, 0)
	}
	b.sections.Add(uint32(section))
}

// End returns an error that matches [afdo.ErrUnused] if r has samples that Samples was not called
// for: no symbol has them, so a reader of the whole file has missed them. The error matches
// [afdo.ErrSummary] if the summary counts samples and the file has none. End reads one byte of each
// section that no unit refers to, and the summary of a file without samples.
func (b *Budget) End(r *afdo.Reader) error {
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		strings, symbols := u.SectionIndexes()
		b.reached(strings)
		b.reached(symbols)
	}
	for i := range r.NumSections() {
		if b.sections.Has(uint32(i)) {
			continue
		}
		section, err := r.Section(i)
		if err == nil && section.Type == afdo.SectionSymbolInfo {
			err = section.ErrorAt(section.Offset, afdo.ErrUnused, "samples that no symbol has")
		}
		if err == nil && section.Type == afdo.SectionSummary && !b.found {
			var s *afdo.Summary
			if s, err = r.Summary(); err == nil && summary.Lost(s) {
				err = section.ErrorAt(section.Offset, afdo.ErrSummary, summary.LostDetail)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
