package kind

import (
	"fmt"
	"strconv"
)

// A Problem is something wrong with a file. Its place is a part of the file and an offset, an
// offset alone, a line and a column, or nothing.
type Problem struct {
	Remark      bool   // it is odd, but legal
	Where       string // "header" or "section 3 (symbol info)"; empty if the format has no parts
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
	switch {
	case p.Where != "":
		return fmt.Sprintf("%s at offset %d: %s", p.Where, p.Offset, text)
	case p.Line > 0:
		return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, text)
	case p.Offset >= 0:
		return fmt.Sprintf("offset %d: %s", p.Offset, text)
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
