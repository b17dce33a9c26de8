package textfmt

import (
	"bytes"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// Check yields the first error that [Parse] finds in a text. If there is none, it yields the
// differences between the summary and the data, as remarks unless the text has no functions, but a
// summary of samples. It takes memory for the profile.
func Check(data []byte) iter.Seq[afdo.Problem] {
	return func(yield func(fault.Problem) bool) {
		p, err := Parse(bytes.NewReader(data))
		if err != nil {
			yield(fault.Problem{Err: err})
			return
		}
		more := true
		summary.Compare(p.Summary, p.Summarize(), true, func(_ int, detail string, remark bool) {
			more = more && yield(fault.Problem{Err: faultAt(position{}, fault.ErrSummary, "%s", detail), Remark: remark})
		})
	}
}
