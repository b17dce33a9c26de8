package index

import (
	"bytes"
	"errors"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
)

// Check compares the index of a file, including the checksums of all sections, with the file. It
// yields an [afdo.FormatError] for each problem, or the error of opening the file. A file without
// an index has no problems.
//
// The blocks of the index are compared with those that [Write] makes only if sound is true, which
// means that the file has no other errors, and if no problem has been found before. The first
// difference ends the check. options returns the Options with which the index of the file is
// written. Unqualified names, fingerprints and the overview are compared if the index uses the
// schemes of the Options. If options is nil, these are not compared.
func Check(data []byte, options func(*afdo.Reader) (*Options, error), sound bool) iter.Seq[error] {
	return func(yield func(error) bool) {
		c := checker{data: data, yield: yield}
		c.run(options, sound)
	}
}

// A checker holds the state of [Check], which compares the index of a file with the file. It yields
// each problem until the caller of Check stops the iteration.
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
	for _, kind := range []indexfmt.Kind{indexfmt.Unqualified, indexfmt.Fingerprints, indexfmt.Overview} {
		_, err := x.x.Scheme(kind)
		c.fault(x.wrap(err))
	}
	c.fault(x.wrap(x.x.CheckFingerprints()))
	c.fault(x.wrap(x.x.CheckEnd()))
	if sound && c.faults == 0 {
		c.fault(x.wrap(c.contents(options)))
	}
}

// checksums compares the checksums that the index has for the sections of the file with those of
// the sections' contents. It reports each section that differs.
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

// contents compares the blocks of the file's index with those that [Write] would make for the file.
func (c *checker) contents(options func(*afdo.Reader) (*Options, error)) error {
	f, err := copySections(c.r)
	if err != nil {
		return err
	}
	want, err := c.want(f, options)
	if err != nil {
		return err
	}
	last := c.x.x.Section
	f.add(section{afdo.SectionIndex, last.Compact, c.data[last.Offset+1 : last.Offset+last.Size]})
	head := f.header()
	if !bytes.HasPrefix(c.data, head) {
		head = nil // the section table has another order than the index says
	}
	return c.x.x.Check(want.with(f, head))
}

// want returns the index that [Write] would write for the file f. Blocks that the options cannot
// make, such as fingerprints of an unknown scheme, are copied from the index in the file, so they
// compare equal.
func (c *checker) want(f *fileSections, options func(*afdo.Reader) (*Options, error)) (*writing, error) {
	var o Options
	if options != nil {
		given, err := options(c.r)
		if err != nil {
			return nil, err
		}
		o = *given
	}
	undefined := c.dropUndefined(&o)
	w, err := newWriting(c.r, f, &o)
	if err != nil {
		return nil, err
	}
	for _, kind := range undefined {
		data, err := c.x.x.All(kind)
		if err != nil {
			return nil, err
		}
		if kind == indexfmt.Filter {
			w.filter = data
		} else {
			w.Add(kind, data)
		}
	}
	return w, nil
}

// dropUndefined prepares the options with which the checker makes an index to compare with the one
// in the file. The index in the file may lack results of a function in o, such as o.Fingerprint, or
// have them from a function with another scheme. Then dropUndefined removes that function from o.
// It returns the kinds of the blocks that cannot be compared, because o cannot make them.
func (c *checker) dropUndefined(o *Options) []indexfmt.Kind {
	x := c.x.x
	is := func(kind indexfmt.Kind, scheme string) bool {
		made, _ := x.Scheme(kind) // run has reported the error
		return x.Has(kind) && made == scheme
	}
	kinds := []indexfmt.Kind{indexfmt.Producer, indexfmt.BuildID}
	if o.Unqualified.Unqualified == nil || !is(indexfmt.Unqualified, o.Unqualified.Name) {
		o.Unqualified = Scheme{}
		if x.Has(indexfmt.Unqualified) {
			kinds = append(kinds, indexfmt.Unqualified, indexfmt.Filter)
		}
	}
	if o.Fingerprint == nil || !is(indexfmt.Fingerprints, o.FingerprintScheme) {
		o.Fingerprint = nil
		kinds = append(kinds, indexfmt.Fingerprints)
	}
	if o.Overview == nil || !is(indexfmt.Overview, o.OverviewScheme) {
		o.Overview = nil
		kinds = append(kinds, indexfmt.Overview)
	}
	o.NoLookups = !x.Has(indexfmt.Names)
	o.NoInlining = !x.HasCallers() && !x.Has(indexfmt.Callers)
	return kinds
}
