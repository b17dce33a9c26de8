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
			yield(fault.Problem{Err: err})
			return
		}
		h, _ := DecodeHeader(data) // ParseBytes has decoded it before
		d := newDecoder(data, h)
		if h.Version >= version3 {
			d.Pos = entriesAt + summaryEntrySize*int(d.counterAt(entriesNumAt))
		}
		if !d.checkNames(yield) || p.Summary == nil {
			return
		}
		stop := false
		summary.Compare(p.Summary, d.summarize(p.Summary.NumCounts), false, func(which int, detail string, remark bool) {
			if !stop {
				stop = !yield(fault.Problem{Err: faultAt(figureAt(which), fault.ErrSummary, "%s", detail), Remark: remark})
			}
		})
	}
}

// figureAt returns the file offset of a value in the summary. The values are numbered by which:
// first come the figures of the whole profile, such as the total, and then the entries.
func figureAt(which int) int64 {
	if which < summary.Figures {
		return summaryAt + 8*int64(which)
	}
	return entriesAt + summaryEntrySize*int64(which-summary.Figures)
}

// Offsets in the summary of a version 3 file.
const (
	summaryAt    = headerSize + wordSize
	entriesAt    = summaryAt + 6*counterSize
	entriesNumAt = entriesAt - counterSize
)

// checkNames yields problems in the name table of a file that was decoded without an error. All
// known writers sort the names, write each once, and put the empty name first. A file that violates
// this gives a problem. If a name occurs twice, readers disagree on which of the two a function
// has.
func (d *decoder) checkNames(yield func(fault.Problem) bool) bool {
	d.Pos += 2 * wordSize // tag and length
	if d.version >= version3 {
		for range d.Uint32("a number") {
			d.str("a path")
		}
	}
	seen := make(map[string]bool)
	last, ordered := "", true
	for i := range d.Uint32("a number") {
		pos := int64(d.Pos)
		start, end := d.str("a name")
		name := string(d.Data[start:end])
		if d.version >= version3 {
			d.Pos += wordSize // file
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

// summarize computes the summary of a file from the records of its functions. Records of the same
// location or symbol are not added up, as package profile does. Each location with calls has a
// count in this format, and 0 may mean that the original profile had none. So it is unknown whether
// the writer of the file has counted these zeros. found is the number of counts in the stored
// summary. If it is possible, summarize returns the same number.
func (d *decoder) summarize(found uint64) *afdo.Summary {
	d.Pos += 2 * wordSize // tag and length
	functions := d.Uint32("a number")
	head, doubtful := uint64(0), uint64(0)
	var counts profile.Body
	n := uint32(0) // number of counts; each gets its own line, so that none are merged
	for range functions {
		head = max(head, d.counter("a head count"))
		d.Pos += counterSize + wordSize // timestamp, name
		for bodies := 1; bodies > 0; bodies-- {
			positions, callSites := d.Uint32("a number"), d.Uint32("a number")
			for range positions {
				d.Pos += wordSize
				targets := d.Uint32("a number")
				count := d.counter("a count")
				counts.Count(n, 0, count)
				d.Pos += targetSize * int(targets)
				n++
				if count == 0 && targets > 0 {
					doubtful++
				}
			}
			bodies += int(callSites)
			if bodies > 1 {
				d.Pos += 2 * wordSize // location and name of the next call site
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
