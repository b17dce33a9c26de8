package index

import (
	"bytes"
	"cmp"
	"errors"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Check compares the index of a file, including the checksums of all sections, with the file. It
// yields an [afdo.FormatError] for each problem, or the error of opening the file. A file without
// an index has no problems.
//
// The lookup tables are checked only if sound is true, which means that the file has no other
// errors, and if no problem has been found before. Their first problem ends the check. options
// returns the Options with which the index of the file is written. Unqualified names, fingerprints
// and the overview are compared if the index uses the schemes of the Options. If options is nil,
// these are not compared.
func Check(data []byte, options func(*afdo.Reader) (*Options, error), sound bool) iter.Seq[error] {
	return func(yield func(error) bool) {
		c := checker{data: data, yield: yield}
		c.run(options, sound)
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

func (c *checker) run(options func(*afdo.Reader) (*Options, error), sound bool) {
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
		o, err := &Options{}, error(nil)
		if options != nil {
			o, err = options(r)
		}
		if err == nil {
			err = c.contents(o)
		}
		c.fault(x.wrap(err))
	}
}

// checksums compares the checksums in the index with those of the sections.
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

// order compares the section table that the index contains with that of the file.
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

// copies compares the parts of the file that the index repeats. summary and names are section
// indexes.
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

// contents compares the lookup tables, the fingerprints and the overview with the file. It returns
// the first problem.
func (c *checker) contents(o *Options) error {
	x := c.x.x
	n, err := c.r.NumUnits()
	if err != nil {
		return err
	}
	if err := x.CheckNumUnits(n); err != nil {
		return err
	}
	f, err := copySections(c.r)
	if err != nil {
		return err
	}
	units, paths := unitEntries(f.sections[f.names])
	if x.Has(indexfmt.Units) {
		if err := x.CheckUnits(units); err != nil {
			return err
		}
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
	if err := c.names(o.Unqualified); err != nil {
		return err
	}
	if err := c.callers(); err != nil {
		return err
	}
	if err := c.fingerprints(o); err != nil {
		return err
	}
	return c.overview(o)
}

// fingerprints compares the units' fingerprints in the index with those that o computes. It returns
// an error for the first difference.
func (c *checker) fingerprints(o *Options) error {
	made, err := c.x.x.Scheme(indexfmt.Fingerprints)
	if err != nil || o.Fingerprint == nil || made != o.FingerprintScheme || !c.x.x.Has(indexfmt.Fingerprints) {
		return err
	}
	for u, err := range c.r.Units() {
		if err != nil {
			return err
		}
		key, err := c.x.Fingerprint(u)
		if err != nil {
			return err
		}
		if want, err := o.Fingerprint(u); err != nil || key != want {
			return cmp.Or(err, c.lies("the fingerprint of unit %.200q is %016x, the index has %016x", u.Path(), want, key))
		}
	}
	return nil
}

// overview compares the overview in the index with the one that o computes.
func (c *checker) overview(o *Options) error {
	scheme, got, err := c.x.Overview()
	if errors.Is(err, afdo.ErrNotFound) || err == nil && (o.Overview == nil || scheme != o.OverviewScheme) {
		return nil
	}
	if err != nil {
		return err
	}
	if want, err := o.Overview(c.r); err != nil || !bytes.Equal(got, want) {
		return cmp.Or(err, c.lies("the overview differs from the data"))
	}
	return nil
}

// lies returns the error of an index that disagrees with the file.
func (c *checker) lies(format string, args ...any) error {
	s, err := c.r.Section(c.x.x.Section.Index)
	if err != nil {
		return err
	}
	return s.ErrorAt(s.Offset, afdo.ErrIndex, format, args...)
}

// callers compares the lists of callers with those computed from the samples.
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

// names compares the index's tables of canonical names and of unqualified names with the names in
// the file. It compares unqualified names only if the index uses the given scheme.
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
