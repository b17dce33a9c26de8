package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A table is lines of cells in columns as wide as their widest cell.
type table struct {
	columns string // an 'l' or 'r' for each column: to which side its cells are aligned
	rows    [][]string
}

// row adds a line. It may have fewer cells than there are columns.
func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the lines, each indented by some blanks.
func (t *table) write(w io.Writer, indent int) error {
	widths := make([]int, len(t.columns))
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
			if t.columns[i] == 'r' {
				pad(&line, blanks)
			}
			line.WriteString(cell)
			if t.columns[i] == 'l' {
				pad(&line, blanks)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

func pad(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}

// grouped writes a number with a comma before every third digit.
func grouped[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// printable returns a name as it stands, or quoted if it holds something that
// would do more to a terminal than show.
func printable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// unknownUnit stands for the empty path of the unknown-file unit where people read it.
const unknownUnit = "(unknown)"

func printableUnit(path string) string {
	if path == "" {
		return unknownUnit
	}
	return printable(path)
}
