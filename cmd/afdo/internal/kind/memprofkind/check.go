package memprofkind

import (
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
)

// Check reports everything that is wrong with an indexed file, and the first fault of a raw one or
// of YAML.
func (k *Kind) Check(f *input.File, report func(kind.Problem)) error {
	l, err := load(f)
	if err != nil {
		p, ok := problem(err)
		if !ok {
			return err
		}
		report(p)
		return nil
	}
	if l.reader == nil {
		return nil
	}
	for err := range l.reader.Check() {
		p, ok := problem(err)
		if !ok {
			return err
		}
		report(p)
	}
	return nil
}

// problem turns a fault of the data into a problem; other errors are none.
func problem(err error) (kind.Problem, bool) {
	var fault *afdo.FormatError
	switch {
	case errors.As(err, &fault):
		p := kind.NewProblem(fault)
		p.Remark = errors.Is(err, afdo.ErrSummary) || errors.Is(err, afdo.ErrUnused)
		return p, true
	case errors.Is(err, afdo.ErrVersion), errors.Is(err, afdo.ErrNotFound):
		return kind.Problem{Offset: -1, Detail: cli.Message(err)}, true
	}
	return kind.Problem{}, false
}
