package textfmt

import (
	"bytes"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// Check yields the first error that [Parse] finds in a text. If there is none, it yields the
// differences between the summary and the data, as remarks unless the text has no symbols at all,
// but a summary of functions. It takes memory for the profile.
func Check(data []byte) iter.Seq[afdo.Problem] {
	return func(yield func(fault.Problem) bool) {
		p, err := Parse(bytes.NewReader(data))
		if err != nil {
			yield(fault.Problem{Err: err})
			return
		}
		more := true
		hidden := p.NumSymbols() == 0 && p.Summary.NumFunctions > 0 // a text that was cut after its summary
		summary.Compare(p.Summary, p.Summarize(), true, func(_ int, detail string) {
			more = more && yield(fault.Problem{Err: faultAt(position{}, fault.ErrSummary, "%s", detail), Remark: !hidden})
		})
	}
}
