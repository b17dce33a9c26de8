package check

import (
	"bytes"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/textfmt"
)

// A SummaryError says that the summary of a text does not agree with its data. It matches
// [afdo.ErrSummary]. In files of other formats, which have offsets, an [afdo.FormatError] says it.
type SummaryError struct {
	Detail string // what the summary says and what the data make
}

func (e *SummaryError) Error() string { return "check: " + afdo.ErrSummary.Error() + ": " + e.Detail }

// Is reports whether target is [afdo.ErrSummary].
func (e *SummaryError) Is(target error) bool { return target == afdo.ErrSummary }

// File checks a GCOV profile of any format, which it knows by its first bytes: of version 4 as [V4]
// does, of versions 2 and 3 as [gcov.Check] does. What begins like none of them is taken for the
// text, of which the first fault is the only one, and the summary is compared with the data; that
// takes the memory of the profile.
func File(data []byte, o Options) iter.Seq[Problem] {
	switch {
	case bytes.HasPrefix(data, []byte("gcov")):
		return V4(data, o)
	case bytes.HasPrefix(data, []byte("adcg")), bytes.HasPrefix(data, []byte("gcda")):
		return old(data)
	}
	return text(data)
}

// old checks a file of version 2 or 3.
func old(data []byte) iter.Seq[Problem] {
	return func(yield func(Problem) bool) {
		for p := range gcov.Check(data) {
			if !yield(Problem{Err: p.Err, Remark: p.Remark}) {
				return
			}
		}
	}
}

// text checks the textual form.
func text(data []byte) iter.Seq[Problem] {
	return func(yield func(Problem) bool) {
		p, err := textfmt.Parse(bytes.NewReader(data))
		if err != nil {
			yield(Problem{Err: err})
			return
		}
		more := true
		summary.Compare(p.Summary, p.Summarize(), true, func(_ int, detail string) {
			more = more && yield(Problem{Err: &SummaryError{detail}, Remark: true})
		})
	}
}
