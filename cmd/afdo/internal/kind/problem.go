package kind

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
)

// NewProblem returns the problem that an error of a format is about.
func NewProblem(e *afdo.FormatError) Problem {
	p := Problem{Offset: e.Offset, Line: e.Line, Column: e.Column, Class: e.Err.Error(), Detail: e.Detail, Place: e.Place()}
	if e.Section != afdo.HeaderSection {
		p.Section, p.SectionType = e.Section, e.Part
	}
	return p
}

// A Problem is something wrong with a file. Its place is a part of the file and an offset, an
// offset alone, a line and a column, or nothing.
type Problem struct {
	Remark      bool   // it is odd, but legal
	Place       string // "header at offset 8" or "line 3, column 1"; empty if it has none
	Section     int    // counts if SectionType is not empty
	SectionType string
	Offset      int64 // -1 if there is none
	Line        int   // of text, 0 if there is none
	Column      int
	Class       string // such as "bad count"; empty if there is none
	Detail      string

	// A problem may stand for several that differ in nothing but places, numbers and names.
	More        int     // how many there are besides
	MoreOffsets []int64 // of the first few of them
}

// String returns the problem as one line.
func (p *Problem) String() string {
	text := p.Detail + p.more()
	if p.Class != "" {
		text = p.Class + ": " + text
	}
	if p.Place != "" {
		return strings.TrimPrefix(p.Place, "at ") + ": " + text
	}
	return text
}

// more says how many more problems of the kind there are, and where the first of them are.
func (p *Problem) more() string {
	if p.More == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d more of the kind", p.More)
	for i, off := range p.MoreOffsets {
		if i == 0 {
			text += ", at offsets "
		} else {
			text += ", "
		}
		text += strconv.FormatInt(off, 10)
	}
	if len(p.MoreOffsets) > 0 && len(p.MoreOffsets) < p.More {
		text += ", ..."
	}
	return text
}
