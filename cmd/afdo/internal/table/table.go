// Package table prints tables of text with aligned columns.
package table

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/cli/human"
)

// A Table is a table of text cells. Each column is as wide as its widest cell.
type Table struct {
	Columns string // for each column, 'l' or 'r': its cells are aligned to the left or right
	rows    [][]string
	hidden  []int // indexes of columns that are not written
}

// Row adds a row with the given cells. It may have fewer cells than there are columns.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Write writes the rows of the table as lines. Each line is indented by the given number of blanks.
func (t *Table) Write(w io.Writer, indent int) error {
	_, err := io.WriteString(w, t.Text(indent))
	return err
}

// Text returns the rows of the table as text, as [Table.Write] writes them.
func (t *Table) Text(indent int) string {
	widths := t.widths()
	var text, line strings.Builder
	for _, row := range t.rows {
		line.Reset()
		gap := indent
		for i, cell := range row {
			if t.isHidden(i) {
				continue
			}
			pad(&line, gap)
			gap = 2
			blanks := widths[i] - utf8.RuneCountInString(cell)
			if t.Columns[i] == 'r' {
				pad(&line, blanks)
			}
			line.WriteString(cell)
			if t.Columns[i] == 'l' {
				pad(&line, blanks)
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return text.String()
}

// widths returns the width of each column in characters.
func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width returns the total width of the columns that are written, with the blanks between them.
func (t *Table) width() int {
	sum := -2
	for i, width := range t.widths() {
		if !t.isHidden(i) {
			sum += width + 2
		}
	}
	return max(sum, 0)
}

func (t *Table) isHidden(column int) bool { return slices.Contains(t.hidden, column) }

// Empty reports whether the table has no rows.
func (t *Table) Empty() bool { return len(t.rows) == 0 }

func pad(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}

// A Count is the value of --number: how many rows of a list are printed, 0 for all.
type Count uint

// String returns the number in decimal digits.
func (c *Count) String() string { return strconv.FormatUint(uint64(*c), 10) }

// Set parses the value of the flag.
func (c *Count) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("want a number, 0 for all")
	}
	*c = Count(n)
	return nil
}

// Type returns the word that stands for the value of the flag in the help.
func (c *Count) Type() string { return "N" }

// Of returns how many of n rows are printed: n if c is 0, and otherwise at most c.
func (c Count) Of(n int) int {
	if c == 0 || uint(n) < uint(c) {
		return n
	}
	return int(c)
}

// First returns the first most rows of a list, which are printed, and how many rows are left out.
// If most is 0, it returns all rows.
func First[T any](rows []T, most Count) (shown []T, leftOut int) {
	n := most.Of(len(rows))
	return rows[:n], len(rows) - n
}

// A List is a table of numbers in which each row ends with a label. The label is the name of the
// function or unit to which the numbers belong, followed by where it is. Labels are made while the
// list is printed, because all demangled names together may be too large for memory.
type List struct {
	Numbers Table  // its first row is a heading
	Heading string // heading of the labels
	Spare   []int  // columns of Numbers to hide on a narrow terminal, the first one first
	LeftOut int    // number of rows that are not in the list; printed as a last line
	Width   int    // maximum width of a line in characters, 0 for no limit

	// About returns the label of a row. Row 0 is the first one below the heading. name yields
	// several forms of the name, and the first form that fits into the line is printed. place is
	// left out if there is no room for it beside the name.
	About func(row int) (name iter.Seq[string], place string)
}

const (
	enoughAbout = 40 // if fewer characters remain for a label, columns of Spare are hidden
	leastAbout  = 20 // characters of a label that are printed even if the terminal is too narrow
)

// Named returns the label of a row, for [List.About], with one form of a name and no place.
func Named(name string) (iter.Seq[string], string) { return slices.Values([]string{name}), "" }

// Write writes the list, each line indented by some blanks.
func (l *List) Write(w io.Writer, indent int) error {
	numbers, without := l.fit(indent)
	i := 0
	for line := range strings.Lines(numbers.Text(indent)) {
		line = strings.TrimSuffix(line, "\n")
		if _, err := fmt.Fprintf(w, "%s  %s\n", line, l.about(i, utf8.RuneCountInString(line)+2)); err != nil {
			return err
		}
		i++
	}
	return l.writeLeftOut(w, indent, without)
}

// fit returns the numbers of the list without the columns for which the terminal has no room.
// without has the headings of these columns.
func (l *List) fit(indent int) (numbers Table, without []string) {
	numbers = l.Numbers
	for _, column := range l.Spare {
		if l.Width == 0 || indent+numbers.width()+2+enoughAbout <= l.Width {
			break
		}
		without = append(without, numbers.rows[0][column])
		numbers.hidden = append(numbers.hidden, column)
	}
	return numbers, without
}

// about returns the label that is printed at the end of a row. taken is the width of the numbers
// before it. If the label has several forms, about returns the first one that fits into the rest of
// the line.
func (l *List) about(row, taken int) string {
	if row == 0 {
		return l.Heading
	}
	names, place := l.About(row - 1)
	if l.Width == 0 {
		for name := range names {
			return join(name, place)
		}
	}
	columns := max(leastAbout, l.Width-taken)
	var name string
	for name = range names {
		if utf8.RuneCountInString(name) <= columns {
			break
		}
	}
	name = human.Shorten(name, columns)
	return join(name, human.ShortenPath(place, columns-utf8.RuneCountInString(name)-2))
}

func join(name, place string) string {
	if place == "" {
		return name
	}
	return name + "  " + place
}

func (l *List) writeLeftOut(w io.Writer, indent int, without []string) error {
	var said []string
	if l.LeftOut > 0 {
		said = append(said, human.Number(l.LeftOut)+" more")
	}
	if len(without) > 0 {
		said = append(said, "a wider terminal also shows "+strings.Join(without, ", "))
	}
	if said == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "%*s%s\n", indent, "", strings.Join(said, "; "))
	return err
}

// A Part is a section of the output of a verb: a table with a heading.
type Part struct {
	Heading string
	*Table
}

// WriteParts writes a table without a heading, and below it each part that is not empty.
func WriteParts(w io.Writer, head *Table, parts ...Part) error {
	text := head.Text(0)
	for _, part := range parts {
		if !part.Empty() {
			text += "\n" + part.Heading + "\n" + part.Text(2)
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
