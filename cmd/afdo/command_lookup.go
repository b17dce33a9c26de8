package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/textfmt"
)

const lookupHelp = `Print the unit of FILE whose path is PATH, or ends in PATH at a "/" if only one
does. Of a version 4 file nothing else is read, apart from the names of callees
in other units. With --symbol, print that symbol alone. What is printed is in the
textual form of version 4 and complete by itself.

With --symbol but without --unit, list the units that have a symbol of that name.

With --demangle the output is for reading: what a demangled name holds may keep
it from being parsed. In JSON, demangled names stand beside the others.`

func newLookupCommand(e *env) *cobra.Command {
	var l lookup
	cmd := &cobra.Command{
		Use:   "lookup FILE --unit PATH [--symbol NAME]",
		Short: "Print one unit or symbol of a profile",
		Long:  lookupHelp,
		Args:  wantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.inUnit, l.one = cmd.Flags().Changed("unit"), cmd.Flags().Changed("symbol")
			if !l.inUnit && !l.one {
				return usageErrorf("neither --unit nor --symbol")
			}
			return e.withInput(args[0], func(in *input) error { return e.lookup(in, &l) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&l.unit, "unit", "u", "", "path of a unit, or the end of one")
	f.StringVarP(&l.symbol, "symbol", "s", "", "name of a symbol, as the assembler has it")
	f.BoolVar(&l.json, "json", false, "print JSON")
	f.BoolVar(&l.demangle, "demangle", false, "print the names of C++ and Rust functions as people write them")
	_ = cmd.RegisterFlagCompletionFunc("unit", e.completeUnits)
	return cmd
}

// A lookup is what the flags ask for.
type lookup struct {
	unit, symbol string
	inUnit       bool // unit counts, and may be empty
	one          bool // symbol counts
	json         bool
	demangle     bool
}

func (e *env) lookup(in *input, l *lookup) error {
	r, err := in.openReader()
	if err != nil {
		return err
	}
	if !l.inUnit {
		return e.search(r, l)
	}
	u, err := findUnit(r, l.unit)
	if err != nil {
		return err
	}
	if !l.one {
		return e.printUnit(r, u, l)
	}
	s, err := findSymbol(u, l.symbol)
	if err != nil {
		return err
	}
	return e.printSymbol(r, s, l)
}

func (e *env) printUnit(r *afdo.Reader, u *afdo.Unit, l *lookup) error {
	return e.withOutput(stdio, func(w io.Writer) error {
		if l.json {
			return newUnitJSON(w, r, l.demangle).unit(u)
		}
		return textfmt.PrintUnit(l.text(w), r, u)
	})
}

func (e *env) printSymbol(r *afdo.Reader, s afdo.Symbol, l *lookup) error {
	return e.withOutput(stdio, func(w io.Writer) error {
		if l.json {
			return newUnitJSON(w, r, l.demangle).only(s)
		}
		return textfmt.PrintSymbol(l.text(w), r, s)
	})
}

// text returns where the textual form is to be written.
func (l *lookup) text(w io.Writer) io.Writer {
	if l.demangle {
		return &demangler{w: w}
	}
	return w
}

// A match is a symbol of the name that was searched for, in the form of its JSON.
type match struct {
	Unit      string `json:"unit"`
	ID        uint32 `json:"id"`
	HasInfo   bool   `json:"has_info"`
	HeadCount uint64 `json:"head_count"`
	Timestamp uint64 `json:"timestamp"`
	Samples   uint64 `json:"samples"`

	index int // of the unit in the file
}

// search lists the units that have a symbol.
func (e *env) search(r *afdo.Reader, l *lookup) error {
	var matches []match
	w := newWalker(r)
	for s, err := range r.SymbolsNamed(l.symbol) {
		if err != nil {
			return err
		}
		err = w.symbol(s, func(s afdo.Symbol, f *function) error {
			matches = append(matches, newMatch(s, f))
			return nil
		})
		if err != nil {
			return fmt.Errorf("unit %.200q: %w", s.Unit().Path(), err)
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.index, b.index) })
	if len(matches) == 0 {
		return noSymbol(r.Units(), l.symbol)
	}
	if l.json {
		return e.printJSON(matches)
	}
	return e.withOutput(stdio, func(w io.Writer) error { return matchTable(matches).write(w, 0) })
}

func newMatch(s afdo.Symbol, f *function) match {
	m := match{Unit: s.Unit().Path(), ID: uint32(s.ID()), index: s.Unit().Index()}
	if f != nil {
		m.HasInfo, m.HeadCount, m.Timestamp, m.Samples = true, f.HeadCount, f.Timestamp, f.samples()
	}
	return m
}

func matchTable(matches []match) *table {
	t := &table{columns: "rrl"}
	t.row("Samples", "Head count", "Unit")
	for _, m := range matches {
		if m.HasInfo {
			t.row(grouped(m.Samples), grouped(m.HeadCount), printableUnit(m.Unit))
		} else {
			t.row("none", "", printableUnit(m.Unit))
		}
	}
	return t
}

// completeUnits offers the paths of the units of the file that was named.
func (e *env) completeUnits(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == stdio {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	in, err := e.openInput(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer in.close()
	r, err := in.openReader()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var paths []string
	for u, err := range r.Units() {
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		paths = append(paths, u.Path())
	}
	return paths, cobra.ShellCompDirectiveNoFileComp
}
