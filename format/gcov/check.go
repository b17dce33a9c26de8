package gcov

import (
	"errors"
	"fmt"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/profile"
)

// errNames is the class of a problem in the name table that readers tolerate.
var errNames = errors.New("bad name table")

// Check yields the problems in a file of version 2 or 3, each with its byte offset. It stops at the
// first error that [ParseBytes] finds, because sections have no reliable length with which to find
// the next one, and the size of a function depends on all its records. If the file can be decoded,
// Check also checks the names and the summary. A file of another version gives an error of class
// afdo.ErrVersion. Check takes a few times as long as ParseBytes, and memory proportional to the
// file size.
func Check(data []byte) iter.Seq[afdo.Problem] {
	return func(yield func(fault.Problem) bool) {
		p, err := ParseBytes(data)
		if err != nil {
			yield(fault.Problem{Err: faultOf(err)})
			return
		}
		h, _ := DecodeHeader(data) // ParseBytes has decoded it before
		f := rawFile{newDecoder(data, h)}
		if h.Version >= 3 {
			f.Pos = entriesAt + entrySize*int(f.counterAt(entriesNumAt))
		}
		if !f.names(yield) || p.Summary == nil {
			return
		}
		stop := false
		summary.Compare(p.Summary, f.summarize(p.Summary.NumCounts), false, func(which int, detail string, remark bool) {
			if !stop {
				stop = !yield(fault.Problem{Err: faultAt(figureAt(which), fault.ErrSummary, "%s", detail), Remark: remark})
			}
		})
	}
}

// faultOf converts an error of ParseBytes to a FormatError, which has a position if that is known.
func faultOf(err error) *fault.FormatError {
	var e *fault.FormatError
	var version *fault.VersionError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &version):
		return faultAt(4, fault.ErrVersion, "version %d, want 2 or 3", version.Version)
	}
	return faultAt(-1, err, "")
}

// figureAt returns the file offset of a field in the summary. which counts the fields before the
// entries, and then the entries.
func figureAt(which int) int64 {
	if which < summary.Figures {
		return summaryAt + 8*int64(which)
	}
	return entriesAt + entrySize*int64(which-summary.Figures)
}

// Offsets and sizes in the summary of a version 3 file, and the size of a call target.
const (
	summaryAt     = headerSize + 4
	entriesAt     = summaryAt + 6*8
	entrySize     = 4 + 8 + 8
	entriesNumAt  = entriesAt - 8
	checkedTarget = 4 + 8 + 8
)

// rawFile walks through a file that has been decoded without an error. Unlike the model, it does
// not add up records of the same place or symbol.
type rawFile struct{ *decoder }

// names reports problems in the name table. All known writers sort the names, write each once, and
// put the empty name first. If a name occurs twice, readers differ in which one they use for its
// function.
func (f *rawFile) names(yield func(fault.Problem) bool) bool {
	f.Pos += 8 // tag and length
	if f.version >= 3 {
		for range f.word() {
			f.name()
		}
	}
	seen := make(map[string]bool)
	last, ordered := "", true
	for i := range f.word() {
		pos := int64(f.Pos)
		name := f.name()
		if f.version >= 3 {
			f.word()
		}
		what := ""
		switch {
		case i == 0 && name != "":
			what = fmt.Sprintf("name 0 is %.200q, not the empty one", name)
		case seen[name]:
			what = fmt.Sprintf("name %d, %.200q, is a duplicate", i, name)
		case name < last && ordered:
			what = fmt.Sprintf("name %d, %.200q, does not ascend", i, name)
			ordered = false
		}
		again := seen[name] && (i > 0 || name == "")
		if what != "" && !yield(fault.Problem{Err: faultAt(pos, errNames, "%s", what), Remark: !again}) {
			return false
		}
		seen[name], last = true, name
	}
	return true
}

// summarize computes the summary from the records of the functions, which follow the names. In this
// format, every call site has a count. A count of 0 may mean that the profile had none, so it is
// unknown whether the writer counted it; summarize then accepts found, the stored number of counts.
func (f *rawFile) summarize(found uint64) *afdo.Summary {
	f.Pos += 8 // tag and length
	functions := f.word()
	head, doubtful := uint64(0), uint64(0)
	var counts profile.Body
	n := uint32(0) // number of counts; each gets its own line, so that none are merged
	for range functions {
		head = max(head, f.counter("a head count"))
		f.Pos += 8 + 4 // timestamp, name
		for bodies := 1; bodies > 0; bodies-- {
			positions, callSites := f.word(), f.word()
			for range positions {
				f.Pos += 4
				targets := f.word()
				count := f.counter("a count")
				counts.Count(n, 0, count)
				f.Pos += checkedTarget * int(targets)
				n++
				if count == 0 && targets > 0 {
					doubtful++
				}
			}
			bodies += int(callSites)
			if bodies > 1 {
				f.Pos += 8 // location and name of the next call site
			}
		}
	}
	p := profile.New()
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, ""), profile.Function{HeadCount: head, Records: counts.Records()})
	s := p.Summarize()
	s.NumFunctions = uint64(functions)
	if found < s.NumCounts && found >= s.NumCounts-doubtful {
		s.NumCounts = found
	}
	return s
}

func (f *rawFile) word() uint32 { return f.Uint32("a word") }

func (f *rawFile) name() string {
	start, end := f.str("a name")
	return string(f.Data[start:end])
}
