package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// missing replaces a figure that is not in the results.
const missing = "–"

// digits formats a figure with three significant digits and grouped thousands.
func digits(v float64) string {
	places := 2
	switch abs := math.Abs(v); {
	case abs >= 99.95:
		places = 0
	case abs >= 9.995:
		places = 1
	}
	whole, fraction, found := strings.Cut(strconv.FormatFloat(v, 'f', places, 64), ".")
	if found {
		fraction = "." + fraction
	}
	return grouped(whole) + fraction
}

// count formats an integer.
func count(v float64) string { return grouped(strconv.FormatFloat(v, 'f', 0, 64)) }

// grouped inserts commas between groups of three digits.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// scaled formats a figure in the largest unit for which it is at least 1. Each unit is a thousand
// times the one before.
func scaled(v float64, units ...string) string {
	for len(units) > 1 && math.Abs(v) >= 999.5 {
		v, units = v/1000, units[1:]
	}
	return digits(v) + " " + units[0]
}

func duration(ns float64) string { return scaled(ns, "ns", "µs", "ms", "s") }

func size(bytes float64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%.0f B", bytes)
	}
	return scaled(bytes, "B", "kB", "MB", "GB")
}

func rate(megabytes float64) string { return scaled(megabytes, "MB/s", "GB/s") }

// table formats a Markdown table. The first column is text, the others are figures.
type table struct {
	strings.Builder
	last []string
}

func newTable(columns ...string) *table {
	t := &table{}
	t.row(columns...)
	t.row(append([]string{"---"}, strings.Split(strings.Repeat(" --:", len(columns)-1), " ")[1:]...)...)
	return t
}

// row adds a row. Its first cells are left empty if they repeat the row before.
func (t *table) row(cells ...string) {
	shown := slices.Clone(cells)
	for i := 0; i < len(t.last) && cells[i] == t.last[i]; i++ {
		shown[i] = ""
	}
	t.last = cells
	fmt.Fprintf(t, "| %s |\n", strings.Join(shown, " | "))
}

// figure formats the median of a benchmark in a unit.
func (r *results) figure(name, unit string, format func(float64) string) string {
	v, ok := r.median(name, unit)
	if !ok {
		return missing
	}
	return format(v)
}
