package gcovkind

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/check"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/slice"
	"github.com/go-afdo/afdo/textfmt"
)

// Check reports everything that is wrong with a file of version 4, and of other formats the first fault
// or else what is wrong with names and summary.
func (k *Kind) Check(f *input.File, report func(kind.Problem)) error {
	c := &checking{kind: k, tell: report}
	format, err := Recognise(f.Head)
	if err != nil {
		c.refused(err)
		return nil
	}
	data, err := io.ReadAll(f)
	switch {
	case err != nil:
		return err
	case format.V4():
		return c.v4(data)
	case format.Old():
		for p := range gcov.Check(data) {
			c.report(&kind.Problem{Remark: p.Remark, Offset: p.Err.Offset, Class: p.Err.Err.Error(), Detail: p.Err.Detail})
		}
	default:
		c.text(data)
	}
	return nil
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

// refused reports why a file cannot be read as what it seems to be.
func (c *checking) refused(err error) {
	c.report(newProblem(err))
}

// newProblem returns the problem that an error is about.
func newProblem(err error) *kind.Problem {
	p := &kind.Problem{Offset: -1}
	var v4 *afdo.FormatError
	var old *gcov.FormatError
	var syntax *textfmt.SyntaxError
	switch {
	case errors.As(err, &v4):
		setSection(p, v4)
	case errors.As(err, &old):
		p.Offset, p.Class, p.Detail = old.Offset, old.Err.Error(), old.Detail
	case errors.As(err, &syntax):
		p.Line, p.Column, p.Class, p.Detail = syntax.Line, syntax.Column, "bad syntax", syntax.Msg
		if syntax.Err != nil {
			p.Class = syntax.Err.Error()
		}
	default:
		p.Detail = cli.Message(err)
	}
	return p
}

// setSection says where the error of a version 4 file is.
func setSection(p *kind.Problem, e *afdo.FormatError) {
	p.Where = "header"
	if e.Section != afdo.HeaderSection {
		p.Section, p.SectionType = e.Section, e.Type.String()
		p.Where = fmt.Sprintf("section %d (%s)", p.Section, p.SectionType)
	}
	p.Offset, p.Class, p.Detail = e.Offset, e.Err.Error(), e.Detail
}

// v4 checks a file of version 4.
func (c *checking) v4(data []byte) error {
	for _, g := range check.Fold(check.V4(data, check.Options{Unqualified: slice.Names})) {
		p := newProblem(g.Err)
		p.Remark, p.More, p.MoreOffsets = g.Remark, g.Count-1, g.Offsets
		c.report(p)
	}
	if c.faults > 0 {
		return nil
	}
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return err
	}
	defer r.Close()
	return c.fingerprints(r)
}

// text checks a file in the textual form.
func (c *checking) text(data []byte) {
	p, err := textfmt.Parse(bytes.NewReader(data))
	if err != nil {
		c.refused(err)
		return
	}
	summary.Compare(p.Summary, p.Summarize(), true, func(_ int, detail string) {
		c.report(&kind.Problem{Remark: true, Offset: -1, Class: afdo.ErrSummary.Error(), Detail: detail})
	})
}
