package gcovkind

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

// Lookup prints one unit or symbol as text or JSON, or a list of the units that have a symbol.
func (k *Kind) Lookup(e *cli.Env, f *input.File, l *kind.LookupOptions) error {
	in, err := OpenForLookup(f)
	if err != nil {
		return err
	}
	r, err := in.Reader()
	if err != nil {
		return err
	}
	err = lookup(e, in, r, l)
	if errors.Is(err, afdo.ErrNotFound) && in.mayBeHidden() { // the index may leave out what the file has
		whole, openErr := afdo.Open(f.Path(), afdo.MaxNameBytes(v4.MaxUnitNames(in.Size(), afdo.DefaultMaxNameBytes)))
		if openErr != nil {
			return openErr
		}
		defer whole.Close()
		return lookup(e, in, whole, l)
	}
	return err
}

func lookup(e *cli.Env, in *Input, r *afdo.Reader, l *kind.LookupOptions) error {
	if !l.HasUnit {
		return search(e, in, r, l)
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

// gcPercent lets the heap grow by this percentage while a unit is printed. The largest unit takes
// some megabytes, and the process ends afterwards.
const gcPercent = 400

func printUnit(e *cli.Env, r *afdo.Reader, u *afdo.Unit, l *kind.LookupOptions) error {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if !l.JSON {
			return textfmt.PrintUnit(textWriter(l, w), r, u)
		}
		j := newUnitJSON(w, r, l.Demangle)
		if err := j.unit(u); err != nil {
			return err
		}
		return j.complete()
	})
}

func printSymbol(e *cli.Env, r *afdo.Reader, s afdo.Symbol, l *kind.LookupOptions) error {
	if l.JSON {
		return printJSON(e, r, []afdo.Symbol{s}, l)
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return textfmt.PrintSymbol(textWriter(l, w), r, s) })
}

// printJSON prints symbols, each with its unit.
func printJSON(e *cli.Env, r *afdo.Reader, symbols []afdo.Symbol, l *kind.LookupOptions) error {
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		j := newUnitJSON(w, r, l.Demangle)
		for _, s := range symbols {
			if err := j.only(s); err != nil {
				return err
			}
		}
		return j.complete()
	})
}

// textWriter returns where the textual form is to be written.
func textWriter(l *kind.LookupOptions, w io.Writer) io.Writer {
	if l.Demangle {
		return demangled.NewWriter(w)
	}
	return w
}

// search lists the units that have a symbol, and the functions in which it is inlined if it has no
// samples of its own.
func search(e *cli.Env, in *Input, r *afdo.Reader, l *kind.LookupOptions) error {
	if has, _ := hasBlock(r, "names"); !has {
		in.Keep() // all of the file is searched, which gives the error of a damaged index
	}
	p := index.NewProgram(r)
	p.Expect(symname.Canonical(l.Symbol), find.Unqualified(l.Symbol))
	symbols, err := named(p, l.Symbol)
	if err != nil {
		return err
	}
	if len(symbols) == 0 {
		if r == in.reader && in.mayBeHidden() {
			return afdo.ErrNotFound // before names like this are tried
		}
		name, err := meant(r, p, l.Symbol)
		if err != nil {
			return err
		}
		if symbols, err = named(p, name); err != nil {
			return err
		}
	}
	slices.SortStableFunc(symbols, func(a, b afdo.Symbol) int { return cmp.Compare(a.Unit().Index(), b.Unit().Index()) })
	if l.JSON {
		return printJSON(e, r, symbols, l)
	}
	t := &table.Table{Columns: "rrl"}
	t.Row("Samples", "Head count", "Unit")
	w := newWalker(r)
	for _, s := range symbols {
		if err := w.symbol(s, func(s afdo.Symbol, f *function) error { addMatch(t, s, f); return nil }); err != nil {
			return fmt.Errorf("unit %.200q: %w", s.Unit().Path(), err)
		}
	}
	inlined, err := inliners(e, in, r, p, symbols, l.Number)
	if err != nil {
		return err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if err := t.Write(w, 0); err != nil {
			return err
		}
		return writeInliners(w, inlined, l)
	})
}

// meant returns the name that the user means by a name that no symbol has. If the file's index has
// unqualified names, meant reads only symbols with the unqualified name that was typed, and
// suggests no others.
func meant(r *afdo.Reader, p *index.Program, typed string) (string, error) {
	names := find.Names(r.Units())
	if x, err := index.Read(r); err == nil {
		scheme, err := x.Unqualified()
		if err != nil {
			return "", err
		}
		if scheme == slice.Names.Name {
			names = namesOf(p.Unqualified([]string{find.Unqualified(typed)}, slice.Names, nil))
		}
	}
	return find.Meant("symbol", typed, names)
}

// namesOf returns the names of symbols.
func namesOf(symbols iter.Seq2[afdo.Symbol, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for s, err := range symbols {
			if !yield(s.Name(), err) {
				return
			}
		}
	}
}

// hasBlock reports whether the file has an index with a block of a kind. It does not if the index
// cannot be used.
func hasBlock(r *afdo.Reader, kind string) (bool, error) {
	x, err := index.Read(r)
	if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrIndex) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(x.Blocks(), func(b index.Block) bool { return b.Kind == kind }), nil
}

// named returns the symbols of a name.
func named(p *index.Program, name string) (symbols []afdo.Symbol, err error) {
	for s, err := range p.Named(name) {
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, s)
	}
	return symbols, nil
}

func addMatch(t *table.Table, s afdo.Symbol, f *function) {
	if f == nil {
		t.Row("none", "", human.Unit(s.Unit().Path()))
		return
	}
	t.Row(human.Number(f.samples()), human.Number(f.HeadCount), human.Unit(s.Unit().Path()))
}
