package gcovkind

import (
	"errors"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/check"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/slice"
)

// Check reports everything that is wrong with a file, see [check.File], and the fingerprints of an
// index that are not those of the units.
func (k *Kind) Check(f *input.File, report func(kind.Problem)) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	c := &checking{kind: k, tell: report}
	for _, g := range check.Fold(check.File(data, check.Options{Unqualified: slice.Names})) {
		p := newProblem(g.Err)
		p.Remark, p.More, p.MoreOffsets = g.Remark, g.Count-1, g.Offsets
		c.report(p)
	}
	if c.faults > 0 || !Format(f.Format()).V4() {
		return nil
	}
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return err
	}
	defer r.Close()
	return c.fingerprints(r)
}

// checking is the check of one file.
type checking struct {
	kind   *Kind
	tell   func(kind.Problem)
	faults int
}

func (c *checking) report(p *kind.Problem) {
	if !p.Remark {
		c.faults++
	}
	c.tell(*p)
}

// newProblem returns the problem that an error is about.
func newProblem(err error) *kind.Problem {
	p := kind.Problem{Offset: -1}
	var fault *afdo.FormatError
	var disagrees *check.SummaryError
	switch {
	case errors.As(err, &fault):
		p = kind.NewProblem(fault)
	case errors.As(err, &disagrees):
		p.Class, p.Detail = afdo.ErrSummary.Error(), disagrees.Detail
	default:
		p.Detail = cli.Message(err)
	}
	return &p
}
