package sampleprof

import (
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
)

// WriteWithSummary writes a copy of an ExtBinary file with another summary. All other sections are
// copied as they are. It takes memory for the whole file. A Binary file or a file without a summary
// gives an error that matches afdo.ErrUnrepresentable. A file of 2 GiB or more gives afdo.ErrLimit.
//
// The new summary is appended, because it may be larger than the old summary, whose bytes stay in
// the copy.
func (r *Reader) WriteWithSummary(w io.Writer, summary *afdo.Summary) error {
	old := r.section(SectionSummary)
	if r.format != ExtBinary || old == nil {
		return fmt.Errorf("sampleprof: replacing the summary of a file without a section for it: %w", fault.ErrUnrepresentable)
	}
	if r.src.Size() > math.MaxInt32 {
		return fmt.Errorf("sampleprof: a file of %d bytes: %w", r.src.Size(), fault.ErrLimit)
	}
	whole, err := r.src.View(0, int(r.src.Size()))
	if err != nil {
		return err
	}
	data := putSummary(nil, summary)
	sections := append([]Section(nil), r.sections...)
	s := &sections[old.Index]
	s.Flags &^= flagCompressed
	s.Offset, s.Size = int64(len(whole)), int64(len(data))
	table := putTable(nil, sections)
	first := int(r.entries) - tableCountSize
	for _, part := range [][]byte{whole[:first], table, whole[first+len(table):], data} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
