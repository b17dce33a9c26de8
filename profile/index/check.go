package index

import (
	"errors"
	"fmt"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

var errNoFileNames = fmt.Errorf("index: a file without a file names section: %w", afdo.ErrMalformed)

// Check compares the index of a file, including the checksums of all sections, with the file. It
// yields an [afdo.FormatError] for each problem, or the error of opening the file. A file without
// an index has no problems.
//
// The lookup tables are checked only if sound is true, which means that the file has no other
// errors, and if no problem has been found before. Their first problem ends the check. Unqualified
// names are compared if the index uses the given scheme. Fingerprints are not compared.
func Check(data []byte, scheme Scheme, sound bool) iter.Seq[error] {
	return func(yield func(error) bool) {
		c := checker{data: data, yield: yield}
		c.run(scheme, sound)
	}
}

// checker yields problems until the caller stops it.
type checker struct {
	data    []byte
	r       *afdo.Reader
	x       *Index
	yield   func(error) bool
	stopped bool
	faults  int
}

func (c *checker) fault(err error) {
	if err != nil && !c.stopped {
		c.faults++
		c.stopped = !c.yield(err)
	}
}

func (c *checker) run(scheme Scheme, sound bool) {
	r, err := afdo.OpenBytes(c.data, afdo.SkipChecksums())
	if err != nil {
		c.fault(err)
		return
	}
	x, err := Read(r)
	if err != nil {
		if !errors.Is(err, afdo.ErrNotFound) {
			c.fault(err)
		}
		return
	}
	c.r, c.x = r, x
	for i := range x.x.NumPages() {
		c.fault(x.wrap(x.x.CheckPage(i)))
	}
	if c.faults > 0 {
		return
	}
	c.checksums()
	c.fault(x.wrap(c.order()))
	for _, kind := range []indexfmt.Kind{indexfmt.Unqualified, indexfmt.Fingerprints} {
		_, err := x.x.Scheme(kind)
		c.fault(x.wrap(err))
	}
	c.fault(x.wrap(x.x.CheckFingerprints()))
	c.fault(x.wrap(x.x.CheckEnd()))
	if sound && c.faults == 0 {
		c.fault(x.wrap(c.lookups(scheme)))
	}
}

// checksums compares the checksums of all sections.
func (c *checker) checksums() {
	if !c.x.x.Has(indexfmt.Checksums) {
		return
	}
	for i := 0; i < c.x.x.Section.Index && !c.stopped; i++ {
		s, err := c.r.Section(i)
		if err != nil {
			c.fault(err)
			return
		}
		want, err := c.x.x.Checksum(i)
		if err != nil {
			c.fault(c.x.wrap(err))
			return
		}
		if got := indexfmt.Sum(c.data[s.Offset : s.Offset+s.Size]); got != want {
			c.fault(s.ErrorAt(s.Offset, afdo.ErrChecksum, "the section has the checksum %08x, want %08x", got, want))
		}
	}
}

// order compares the copy of the section table in the index.
func (c *checker) order() error {
	if !c.x.x.Has(indexfmt.Sections) {
		return nil
	}
	h := wire.Header(c.data)
	entries := int(h.Uint(7))
	summary, names := h.Place(), h.Place()
	index := func(fixed, other wire.Place) (n int) {
		if other.Offset < fixed.Offset {
			n++
		}
		return n
	}
	atSummary, atNames := index(summary, names), index(names, summary)
	end := uint64(0)
	first := min(summary.Offset, names.Offset)
	for range entries {
		p := h.Place()
		first = min(first, p.Offset)
		if p.Offset < end {
			return c.x.x.FaultyOrder()
		}
		end = p.Offset + p.Size
		atSummary += index(summary, p)
		atNames += index(names, p)
	}
	err := c.x.x.CheckOrder(entries, atSummary, atNames, indexfmt.Positions(c.data))
	if err != nil || first > uint64(len(c.data)) {
		return err
	}
	if err := c.copies(atSummary, atNames); err != nil {
		return err
	}
	return c.x.x.CheckEndBlock(newEnd(c.data[:first], atSummary, atNames))
}

// copies compares the block of copies. summary and names are section indexes.
func (c *checker) copies(summary, names int) error {
	x := c.x.x
	if !x.Has(indexfmt.Copies) || !x.Has(indexfmt.Checksums) {
		return nil
	}
	summarySum, err := x.Checksum(summary)
	if err != nil {
		return err
	}
	namesSum, err := x.Checksum(names)
	if err != nil {
		return err
	}
	return x.CheckCopies(summarySum, namesSum)
}

// lookups compares the lookup tables with the file. It returns the first problem.
func (c *checker) lookups(scheme Scheme) error {
	x := c.x.x
	n, err := c.r.NumUnits()
	if err != nil {
		return err
	}
	if err := x.CheckNumUnits(n); err != nil {
		return err
	}
	names, err := c.fileNames()
	if err != nil {
		return err
	}
	units, paths := unitEntries(names)
	if x.Has(indexfmt.Units) {
		if err := x.CheckUnits(units); err != nil {
			return err
		}
	}
	f, err := copySections(c.r)
	if err != nil {
		return err
	}
	if x.Has(indexfmt.Runs) {
		if err := x.CheckRuns(f.runs(units)); err != nil {
			return err
		}
	}
	if x.Has(indexfmt.NameParts) {
		if err := x.CheckNameParts(f.namesSections(units)); err != nil {
			return err
		}
	}
	if x.Has(indexfmt.Paths) {
		if err := x.CheckTable(indexfmt.Paths, paths); err != nil {
			return err
		}
	}
	if err := c.names(scheme); err != nil {
		return err
	}
	return c.callers()
}

// callers compares the blocks of callers.
func (c *checker) callers() error {
	x := c.x.x
	if !x.HasCallers() && !x.Has(indexfmt.Callers) {
		return nil
	}
	t, err := NewProgram(c.r).file.callerTable()
	if err != nil {
		return err
	}
	return x.CheckCallers(callerLists(t))
}

// names compares the tables of names. The second one is compared if it uses the given scheme.
func (c *checker) names(scheme Scheme) error {
	x := c.x.x
	made, err := x.Scheme(indexfmt.Unqualified)
	if err != nil {
		return err
	}
	known := !x.Has(indexfmt.Unqualified) || made == scheme.Name
	if !x.Has(indexfmt.Unqualified) || !known {
		scheme = Scheme{}
	}
	if !x.Has(indexfmt.Names) && scheme.Unqualified == nil {
		return nil
	}
	names, unqualified, err := nameEntries(c.r, scheme)
	if err != nil {
		return err
	}
	if x.Has(indexfmt.Names) {
		if err := x.CheckTable(indexfmt.Names, names); err != nil {
			return err
		}
	}
	if known && x.Has(indexfmt.Filter) {
		if err := x.CheckFilter(names, unqualified); err != nil {
			return err
		}
	}
	if scheme.Unqualified == nil {
		return nil
	}
	return x.CheckTable(indexfmt.Unqualified, unqualified)
}

// fileNames returns the file names section.
func (c *checker) fileNames() (section, error) {
	for s, err := range c.r.Sections() {
		if err != nil {
			return section{}, err
		}
		if s.Type == afdo.SectionFileNames {
			return section{s.Type, s.Compact, c.data[s.Offset+1 : s.Offset+s.Size]}, nil
		}
	}
	return section{}, errNoFileNames
}
