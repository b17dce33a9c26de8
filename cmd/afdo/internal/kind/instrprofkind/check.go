package instrprofkind

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/llvm/instrprof"
)

// Check reports everything that is wrong with an indexed file, and the first fault of other ones.
// What LLVM itself writes though it cannot make use of it is a remark.
func (k *Kind) Check(f *input.File, report func(kind.Problem)) error {
	c := checking{report: report}
	switch f.Format() {
	case anyprof.ProfData:
		r, err := openAs[*instrprof.Reader](f)
		if err != nil {
			return c.fault(err)
		}
		r.Check(func(err error) { c.err = errors.Join(c.err, c.fault(err)) })
		return c.err
	case anyprof.ProfRaw:
		r, err := openAs[*instrprof.RawReader](f)
		if err != nil {
			return c.fault(err)
		}
		return c.raw(r)
	}
	return c.text(f)
}

type checking struct {
	report     func(kind.Problem)
	err        error // of reading an indexed file
	noCounters bool  // which makes a summary that means nothing
}

// fault reports what is wrong with a file, and returns any other error.
func (c *checking) fault(err error) error {
	var format *afdo.FormatError
	var version *afdo.VersionError
	switch {
	case err == nil:
	case errors.As(err, &format):
		p := kind.NewProblem(format)
		if errors.Is(err, instrprof.ErrNoCounters) {
			p.Remark, c.noCounters = true, true
		}
		p.Remark = p.Remark || c.noCounters && errors.Is(err, afdo.ErrSummary)
		c.report(p)
	case errors.As(err, &version):
		c.report(kind.Problem{Offset: -1, Detail: cli.Message(err)})
	case errors.Is(err, instrprof.ErrCorrelated):
		c.report(kind.Problem{Remark: true, Offset: -1, Detail: cli.Message(err)})
	default:
		return err
	}
	return nil
}

// raw reads all of a raw file.
func (c *checking) raw(r *instrprof.RawReader) error {
	for d, err := range r.Dumps() {
		if err != nil {
			return c.fault(err)
		}
		for rec, err := range d.Records() {
			if err != nil {
				return c.fault(err)
			}
			if n := largest(rec); n > suspicious {
				c.report(kind.Problem{Remark: true, Offset: -1, Class: "large count", Detail: fmt.Sprintf("%v counts %d, more than a program can", rec, n)})
			}
		}
		_, idsErr := d.BinaryIDs()
		_, namesErr := d.VTableNames()
		if err := errors.Join(c.fault(idsErr), c.fault(namesErr)); err != nil {
			return err
		}
	}
	return nil
}

// suspicious is the count above which LLVM takes a raw file for damaged.
const suspicious = 1 << 56

func largest(r instrprof.Record) (n uint64) {
	for c := range r.Counters().All() {
		n = max(n, c)
	}
	return n
}

// text reads all of a text.
func (c *checking) text(r io.Reader) error {
	t, err := instrprof.NewTextReader(r)
	if err != nil {
		return c.fault(err)
	}
	n := 0
	for _, err := range t.Records() {
		if err != nil {
			return c.fault(err)
		}
		n++
	}
	if n == 0 {
		c.report(kind.Problem{Offset: -1, Class: afdo.ErrCount.Error(), Detail: "no functions"})
	}
	return nil
}
