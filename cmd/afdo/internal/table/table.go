// Package table writes columns of text that are aligned.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Table is lines of cells in columns as wide as their widest cell.
type Table struct {
	Columns string // an 'l' or 'r' for each column: to which side its cells are aligned
	rows    [][]string
	hidden  []int // columns that are not written
}

// Row adds a line. It may have fewer cells than there are columns.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Write writes the lines, each indented by some blanks.
func (t *Table) Write(w io.Writer, indent int) error {
	widths := t.widths()
	var line strings.Builder
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
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// widths returns how wide each column is.
func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width returns how wide the columns are that are written, with the blanks between them.
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

// Empty tells whether the table has no rows.
func (t *Table) Empty() bool { return len(t.rows) == 0 }

func pad(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}
