package samplekind

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/llvm/sampleprof"
)

// Check reports the first fault of a file, or else what its function offsets and its summary have
// wrong.
func (k *Kind) Check(f *input.File, report func(kind.Problem)) error {
	o, err := open(f)
	if err != nil || o.text != nil {
		return refused(err, report)
	}
	r := o.reader
	p, err := sampleprof.Read(r)
	if err == nil {
		err = r.CheckOffsets()
	}
	if err != nil {
		return refused(err, report)
	}
	found, err := r.Summary()
	if errors.Is(err, afdo.ErrNotFound) {
		report(kind.Problem{Remark: true, Offset: -1, Class: afdo.ErrSummary.Error(), Detail: "there is none"})
		return nil
	}
	if err != nil {
		return refused(err, report)
	}
	if data := p.Summarize(); !reflect.DeepEqual(found, data) {
		report(kind.Problem{Remark: true, Offset: -1, Class: afdo.ErrSummary.Error(), Detail: disagreement(found, data)})
	}
	return nil
}

// disagreement says what is different in a summary.
func disagreement(found, data *afdo.Summary) string {
	for _, f := range []struct {
		what        string
		found, data uint64
	}{
		{"total count", found.TotalCount, data.TotalCount},
		{"maximum count", found.MaxCount, data.MaxCount},
		{"maximum head count", found.MaxFunctionCount, data.MaxFunctionCount},
		{"number of counts", found.NumCounts, data.NumCounts},
		{"number of functions", found.NumFunctions, data.NumFunctions},
	} {
		if f.found != f.data {
			return fmt.Sprintf("%s is %d, the data make it %d", f.what, f.found, f.data)
		}
	}
	return "the detailed entries are not those of the data"
}

// refused reports why a file cannot be read, or returns an error that says nothing of what it
// holds.
func refused(err error, report func(kind.Problem)) error {
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	var read *afdo.ReadError
	if errors.As(err, &read) {
		return err
	}
	p := kind.Problem{Offset: -1}
	var fault *afdo.FormatError
	switch {
	case errors.As(err, &fault):
		p = kind.NewProblem(fault)
	default:
		p.Detail = cli.Message(err)
	}
	report(p)
	return nil
}
