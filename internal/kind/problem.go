package kind

import "fmt"

// A Problem is something wrong with a file. Its place is a part of the file and an offset, an offset
// alone, a line and a column, or nothing.
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
}

// String returns the problem as one line.
func (p *Problem) String() string {
	text := p.Detail
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
