package table

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/cli/human"
)

// A List is a table of numbers with what each row is about behind it. That is made as it is
// printed: a demangled name may be a thousand times as long as the other, and all of them more than
// anybody wants in memory.
type List struct {
	Numbers Table                // its first row is a heading
	Heading string               // of what the rows are about
	About   func(row int) string // of a row of numbers, the heading not counted
	LeftOut int                  // how many rows there are besides; a last line tells
	Width   int                  // how many columns a line may have, 0 for any number
}

// leastAbout is how much of what a row is about is shown however narrow a terminal is.
const leastAbout = 20

// Write writes the list, each line indented by some blanks.
func (l *List) Write(w io.Writer, indent int) error {
	var lines bytes.Buffer
	if err := l.Numbers.Write(&lines, indent); err != nil {
		return err
	}
	for i := range l.Numbers.rows {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		about := l.Heading
		if i > 0 {
			about = l.About(i - 1)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if l.Width > 0 {
			about = human.Shorten(about, max(leastAbout, l.Width-utf8.RuneCount(line)-2))
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", line, about); err != nil {
			return err
		}
	}
	if l.LeftOut > 0 {
		_, err := fmt.Fprintf(w, "%*s%s more\n", indent, "", human.Number(l.LeftOut))
		return err
	}
	return nil
}
