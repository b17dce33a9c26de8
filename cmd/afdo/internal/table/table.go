// Package table writes columns of text that are aligned.
package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is lines of cells in columns as wide as their widest cell.
type Table struct {
	Columns string // an 'l' or 'r' for each column: to which side its cells are aligned
	rows    [][]string
}

// Row adds a line. It may have fewer cells than there are columns.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Write writes the lines, each indented by some blanks.
func (t *Table) Write(w io.Writer, indent int) error {
	widths := make([]int, len(t.Columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var line strings.Builder
	for _, row := range t.rows {
		line.Reset()
		pad(&line, indent)
		for i, cell := range row {
			if i > 0 {
				pad(&line, 2)
			}
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

// Empty tells whether the table has no rows.
func (t *Table) Empty() bool { return len(t.rows) == 0 }

func pad(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}
