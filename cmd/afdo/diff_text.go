package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/profile"
)

// text prints the report for people.
func (r *diffReport) text(w io.Writer) error {
	if err := r.head().write(w, 0); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\nOverlap\n", r.verdict()); err != nil {
		return err
	}
	if err := r.overlaps().write(w, 2); err != nil {
		return err
	}
	if r.byUnit {
		return r.unitList(w)
	}
	for _, list := range []struct {
		title     string
		functions []*profile.FunctionDiff
	}{
		{"Functions that have changed", r.changed},
		{"Functions that only the second profile has", r.gained},
		{"Functions that only the first profile has", r.lost},
	} {
		if err := r.functionList(w, list.title, list.functions); err != nil {
			return err
		}
	}
	return nil
}

// head says what is compared.
func (r *diffReport) head() *table {
	t := &table{columns: "lrrrl"}
	t.row("", "Samples", "Functions", "Units", "File")
	for i, p := range [2]profile.Portion{r.diff.First, r.diff.Second} {
		t.row([2]string{"First", "Second"}[i], grouped(p.Samples), grouped(p.Functions), grouped(r.numUnits[i]), printable(r.paths[i]))
	}
	return t
}

func (r *diffReport) verdict() string {
	if r.difference == nil {
		return "The profiles say the same."
	}
	return "The profiles differ, first here: " + r.difference.Error()
}

func (r *diffReport) overlaps() *table {
	o := &r.diff.Overlap
	t := &table{columns: "ll"}
	t.row("Similarity", overlapText(o.Similarity))
	t.row("Functions", overlapText(o.Functions))
	t.row("Locations", overlapText(o.Locations))
	t.row("Counts", overlapText(o.Counts))
	t.row("Only", fmt.Sprintf("%s of the first, %s of the second", sharePercent(o.OnlyFirst), sharePercent(o.OnlySecond)))
	return t
}

func (r *diffReport) functionList(w io.Writer, title string, functions []*profile.FunctionDiff) error {
	shown := functions[:r.shown(len(functions))]
	t := &table{columns: "rrrr"}
	t.row("First", "Second", "Change", "Overlap")
	for _, f := range shown {
		t.row(shares(f.First, f.Second, f.Change(), f.Overlap)...)
	}
	return writeList(w, title, t, "Function", len(functions)-len(shown), func(i int) string {
		return r.name(shown[i]) + "  " + printableUnit(shown[i].Path)
	})
}

func (r *diffReport) unitList(w io.Writer) error {
	shown := r.units[:r.shown(len(r.units))]
	t := &table{columns: "rrrrrr"}
	t.row("First", "Second", "Change", "Overlap", "Gained", "Lost")
	for _, u := range shown {
		t.row(append(shares(u.First, u.Second, u.Change(), u.Overlap), grouped(u.Gained), grouped(u.Lost))...)
	}
	return writeList(w, "Units that have changed", t, "Unit", len(r.units)-len(shown), func(i int) string {
		return printableUnit(shown[i].Path)
	})
}

// shares returns the cells that functions and units have in common.
func shares(first, second profile.Portion, change, overlap float64) []string {
	cell := func(p profile.Portion) string {
		if p.Functions == 0 {
			return "none"
		}
		return sharePercent(p.Share)
	}
	return []string{cell(first), cell(second), fmt.Sprintf("%+.2f%%", 100*change), overlapText(overlap)}
}

// writeList writes a table of numbers under a title, with what they are about
// behind them, which is made as it is printed, and how many lines there are more. An empty list is not written.
func writeList(w io.Writer, title string, numbers *table, heading string, more int, about func(row int) string) error {
	n := len(numbers.rows) - 1
	if n == 0 {
		return nil
	}
	var lines bytes.Buffer
	if err := numbers.write(&lines, 2); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s: %s\n", title, grouped(n+more)); err != nil {
		return err
	}
	for i := range n + 1 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		behind := heading
		if i > 0 {
			behind = about(i - 1)
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", bytes.TrimSuffix(line, []byte("\n")), behind); err != nil {
			return err
		}
	}
	if more > 0 {
		_, err := fmt.Fprintf(w, "  %s more\n", grouped(more))
		return err
	}
	return nil
}
