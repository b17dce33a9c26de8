package gcovkind

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/demangled"
	"github.com/go-afdo/afdo/internal/cli/find"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/table"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/textfmt"
)

// Lookup prints one unit or symbol as text or JSON, or a list of the units that have a symbol.
func (k *Kind) Lookup(e *cli.Env, f *input.File, l *kind.LookupOptions) error {
	in, err := Open(f)
	if err != nil {
		return err
	}
	r, err := in.Reader()
	if err != nil {
		return err
	}
	if !l.HasUnit {
		return search(e, r, l)
	}
	u, err := find.Unit(r, l.Unit)
	if err != nil {
		return err
	}
	if !l.HasSymbol {
		return printUnit(e, r, u, l)
	}
	s, err := find.Symbol(u, l.Symbol)
	if err != nil {
		return err
	}
	return printSymbol(e, r, s, l)
}

func printUnit(e *cli.Env, r *afdo.Reader, u *afdo.Unit, l *kind.LookupOptions) error {
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if l.JSON {
			return newUnitJSON(w, r, l.Demangle).unit(u)
		}
		return textfmt.PrintUnit(textWriter(l, w), r, u)
	})
}

func printSymbol(e *cli.Env, r *afdo.Reader, s afdo.Symbol, l *kind.LookupOptions) error {
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if l.JSON {
			return newUnitJSON(w, r, l.Demangle).only(s)
		}
		return textfmt.PrintSymbol(textWriter(l, w), r, s)
	})
}

// textWriter returns where the textual form is to be written.
func textWriter(l *kind.LookupOptions, w io.Writer) io.Writer {
	if l.Demangle {
		return demangled.NewWriter(w)
	}
	return w
}

// A Match is a symbol of the name that was searched for, in the form of its JSON.
type Match struct {
	Unit      string `json:"unit"`
	ID        uint32 `json:"id"`
	HasInfo   bool   `json:"has_info"`
	HeadCount uint64 `json:"head_count"`
	Timestamp uint64 `json:"timestamp"`
	Samples   uint64 `json:"samples"`

	index int // of the unit in the file
}

// search lists the units that have a symbol.
func search(e *cli.Env, r *afdo.Reader, l *kind.LookupOptions) error {
	var matches []Match
	w := newWalker(r)
	for s, err := range index.NewProgram(r).Named(l.Symbol) {
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
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(a.index, b.index) })
	if len(matches) == 0 {
		return find.NoSymbol(r.Units(), l.Symbol)
	}
	if l.JSON {
		return output.JSON(e.Out, matches)
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return matchTable(matches).Write(w, 0) })
}

func newMatch(s afdo.Symbol, f *function) Match {
	m := Match{Unit: s.Unit().Path(), ID: uint32(s.ID()), index: s.Unit().Index()}
	if f != nil {
		m.HasInfo, m.HeadCount, m.Timestamp, m.Samples = true, f.HeadCount, f.Timestamp, f.samples()
	}
	return m
}

func matchTable(matches []Match) *table.Table {
	t := &table.Table{Columns: "rrl"}
	t.Row("Samples", "Head count", "Unit")
	for _, m := range matches {
		if m.HasInfo {
			t.Row(human.Number(m.Samples), human.Number(m.HeadCount), human.Unit(m.Unit))
		} else {
			t.Row("none", "", human.Unit(m.Unit))
		}
	}
	return t
}
