package produce

import (
	"io"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase"
)

// A rebaseReport is what rebase prints.
type rebaseReport struct {
	*rebase.Report
	path            string
	number          uint
	demangle, plain bool
}

// rebaseOutcome is the functions of one outcome together.
type rebaseOutcome struct {
	Outcome       string
	Functions     int
	Samples, Kept uint64
}

// outcomes adds up the functions of each outcome that any has.
func (r *rebaseReport) outcomes() []rebaseOutcome {
	var all [rebase.Lost + 1]rebaseOutcome
	for i := range r.Functions {
		f := &r.Functions[i]
		o := &all[f.Outcome]
		o.Outcome = f.Outcome.String()
		o.Functions++
		o.Samples = saturating.Add(o.Samples, f.Samples)
		o.Kept = saturating.Add(o.Kept, f.Kept)
	}
	list := []rebaseOutcome{}
	for _, o := range all {
		if o.Functions > 0 {
			list = append(list, o)
		}
	}
	return list
}

// summary is the report in a line.
func (r *rebaseReport) summary() string {
	var parts []string
	for _, o := range r.outcomes() {
		parts = append(parts, human.Number(o.Functions)+" "+o.Outcome)
	}
	return "functions: " + strings.Join(parts, ", ") + "; " + human.Percentage(r.Kept, r.Samples) + " of the samples have a line"
}

// text prints the report for people.
func (r *rebaseReport) text(stdout io.Writer) error {
	return output.Write(stdout, cli.Stdio, func(w io.Writer) error {
		totals := table.Table{Columns: "lrrr"}
		totals.Row("Outcome", "Functions", "Samples", "With a line")
		for _, o := range r.outcomes() {
			totals.Row(o.Outcome, human.Number(o.Functions), human.Number(o.Samples), human.Percentage(o.Kept, o.Samples))
		}
		totals.Row("all", human.Number(len(r.Functions)), human.Number(r.Samples), human.Percentage(r.Kept, r.Samples))
		if err := totals.Write(w, 0); err != nil {
			return err
		}
		list := table.Table{Columns: "rrll"}
		shown := uint(0)
		for i := range r.Functions {
			f := &r.Functions[i]
			switch {
			case f.Outcome == rebase.Unchanged || f.Outcome == rebase.Unknown:
			case r.number == 0 || shown < r.number:
				shown++
				list.Row(human.Number(f.Samples), human.Percentage(f.Kept, f.Samples), f.Outcome.String(), r.names(f))
			}
		}
		if list.Empty() {
			return nil
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return list.Write(w, 0)
	})
}

// names returns the old and, if that is another, the new name of a function for people.
func (r *rebaseReport) names(f *rebase.Function) string {
	name := func(symbol string) string {
		if r.demangle && !r.plain {
			symbol = demangled.Name(symbol)
		}
		return human.Name(symbol)
	}
	if f.Symbol == f.NewSymbol {
		return name(f.Symbol)
	}
	return name(f.Symbol) + " -> " + name(f.NewSymbol)
}

// json prints the report for other programs.
func (r *rebaseReport) json(stdout io.Writer) error {
	return output.Write(stdout, cli.Stdio, func(w io.Writer) error {
		j := jsonstream.New(w)
		j.Object("")
		j.Name("file", r.path)
		j.Uint("samples", r.Samples)
		j.Uint("kept", r.Kept)
		j.Array("outcomes")
		for _, o := range r.outcomes() {
			j.Object("")
			j.Name("outcome", o.Outcome)
			j.Uint("functions", uint64(o.Functions))
			j.Uint("samples", o.Samples)
			j.Uint("kept", o.Kept)
			j.End()
		}
		j.End()
		j.Array("functions")
		for i := range r.Functions {
			f := &r.Functions[i]
			j.Object("")
			j.Name("name", f.Symbol)
			j.Name("unit", f.Unit)
			j.Name("outcome", f.Outcome.String())
			j.Name("new_name", f.NewSymbol)
			j.Name("new_unit", f.NewUnit)
			j.Uint("samples", f.Samples)
			j.Uint("kept", f.Kept)
			j.End()
		}
		j.End()
		j.End()
		return j.Finish()
	})
}
