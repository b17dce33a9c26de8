package sampleprof

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// pairOffsets pairs each section of function records with the function offsets before it in the
// section table. It returns an error for a file that has lost its functions: one with function
// offsets but no records, or with no records at all and a summary that counts functions. A file
// that never had functions, such as the slice of a compile without samples, is no error. Its
// function offsets list none, or its summary counts none.
func (r *Reader) pairOffsets() error {
	var groups []*bodies
	var offsets *Section
	empty := false
	for i := range r.sections {
		switch s := &r.sections[i]; {
		case s.Type == SectionBodies && s.Size > 0:
			groups = append(groups, &bodies{section: s, offsets: offsets})
			offsets = nil
		case s.Type == SectionFuncOffsets && s.Size > 0 && s.Flags&flagParallel == 0: // others are not needed to read bodies
			if err := r.checkUnpaired(offsets); err != nil {
				return err
			}
			offsets, empty = s, true
		}
	}
	if err := r.checkUnpaired(offsets); err != nil {
		return err
	}
	if len(groups) == 0 && !empty {
		if err := r.checkNothing(); err != nil {
			return err
		}
	}
	r.groups = groups
	return nil
}

// checkUnpaired returns an error if a section of function offsets lists functions, although no
// section of function records follows it. offsets may be nil.
func (r *Reader) checkUnpaired(offsets *Section) error {
	if offsets == nil {
		return nil
	}
	n, err := r.countOffsets(offsets)
	if err == nil && n > 0 {
		err = offsets.fault(offsets.Offset, fault.ErrSection, "%d functions are listed, but no section of bodies has them", n)
	}
	return err
}

// checkNothing is called for a file without function records. It returns an error if the summary of
// the file counts functions.
func (r *Reader) checkNothing() error {
	s, err := r.Summary()
	if err == nil && summary.Lost(s) {
		err = r.section(SectionSummary).fault(r.section(SectionSummary).Offset, fault.ErrSummary, summary.LostDetail)
	}
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}

// countOffsets returns the number of functions that a section of function offsets lists.
func (r *Reader) countOffsets(s *Section) (int, error) {
	f, err := r.open(s)
	if err != nil {
		return 0, err
	}
	n := f.count(2, "functions")
	return n, f.err()
}

// loadOffsets reads the function offsets that belong to g, a section of function records. It does
// nothing if they have been read.
func (r *Reader) loadOffsets(g *bodies) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.table != nil {
		return nil
	}
	f, err := r.open(g.offsets)
	if err != nil {
		return err
	}
	table := make([]functionAt, f.count(2, "functions"))
	starts := make([]uint64, len(table))
	if err := r.spent.add(int64(28*len(table) + 4*r.names.len())); err != nil {
		return g.offsets.fault(0, fault.ErrLimit, "%v", err)
	}
	b := r.reader(*f)
	for i := range table {
		b.functionRef()
		table[i].ref = b.ref
		table[i].offset = b.uint64()
		starts[i] = table[i].offset
	}
	if err := b.end(); err != nil {
		return err
	}
	if !slices.IsSorted(starts) { // offsets of contexts are not in order
		slices.Sort(starts)
	}
	g.table, g.starts = table, starts
	g.chain(max(r.names.len(), r.contexts.len()))
	return nil
}

// Account checks that the summary and the function offsets, which [Read] does not need, can be read
// to their ends. Bytes after these ends give an error that matches afdo.ErrUnused. The function
// offsets take 28 bytes of memory for each function until the Reader is dropped.
func (r *Reader) Account() error {
	if err := r.all(); err != nil {
		return err
	}
	if _, err := r.Summary(); err != nil && !errors.Is(err, fault.ErrNotFound) {
		return err
	}
	for _, g := range r.groups {
		if g.offsets == nil {
			continue
		}
		if err := r.loadOffsets(g); err != nil {
			return err
		}
	}
	return nil
}

// chain links the entries of g.table that have the same name or context, so that a lookup finds all
// pieces in which the file stores a function. refs is the number of names or contexts in the file.
func (g *bodies) chain(refs int) {
	g.heads, g.next = make([]uint32, refs), make([]uint32, len(g.table))
	for i := len(g.table) - 1; i >= 0; i-- {
		head := &g.heads[g.table[i].ref]
		g.next[i], *head = *head, uint32(i+1)
	}
}

// putOffsets appends a section of function offsets.
func putOffsets(b []byte, table []functionAt) []byte {
	b = binary.AppendUvarint(b, uint64(len(table)))
	for _, e := range table {
		b = binary.AppendUvarint(b, uint64(e.ref))
		b = binary.AppendUvarint(b, e.offset)
	}
	return b
}
