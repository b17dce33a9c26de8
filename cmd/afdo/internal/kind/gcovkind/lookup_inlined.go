package gcovkind

import (
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile/index"
)

// inlining is the functions in which a symbol without samples of its own is inlined.
type inlining struct {
	shown  []afdo.Symbol
	others int // number of functions that are not shown
}

// inliners returns the functions in which symbols without samples of their own are inlined, at most
// number of them unless that is 0. If only this would require reading the whole file, it prints a
// hint instead.
func inliners(e *cli.Env, in *Input, r *afdo.Reader, p *index.Program, symbols []afdo.Symbol, number uint) (f inlining, err error) {
	var without []afdo.SymbolID
	for _, s := range symbols {
		if !s.HasInfo() {
			without = append(without, s.ID())
		}
	}
	if len(without) == 0 {
		return f, nil
	}
	if told, err := tellsInlining(in, r); err != nil {
		return f, err
	} else if !told {
		e.Warnf("%s has no index, so it is unknown in which functions this is inlined; \"afdo index\" adds one", human.Name(in.Name))
		return f, nil
	}
	f.shown, f.others, err = p.Callers(without, int(min(number, math.MaxInt)))
	return f, err
}

// tellsInlining reports whether the inlined functions are known without reading the whole file:
// from an index, or because the whole file was read in any case.
func tellsInlining(in *Input, r *afdo.Reader) (bool, error) {
	if !in.Format.V4() {
		return true, nil
	}
	return hasBlock(r, "groups of callers")
}

// writeInliners lists functions below the units that have a symbol.
func writeInliners(w io.Writer, f inlining, l *kind.LookupOptions) error {
	if len(f.shown) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\nInlined in\n"); err != nil {
		return err
	}
	t := &table.Table{Columns: "ll"}
	for _, s := range f.shown {
		name := s.Name()
		if l.Demangle {
			name = demangled.Name(name)
		}
		t.Row(human.Name(name), human.Unit(s.Unit().Path()))
	}
	if err := t.Write(w, 2); err != nil || f.others == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "  %s more\n", human.Number(f.others))
	return err
}
