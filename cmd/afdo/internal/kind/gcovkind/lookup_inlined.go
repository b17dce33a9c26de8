package gcovkind

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// inliners returns the functions in which symbols without samples of their own are inlined. If only
// this would require reading the whole file, it prints a hint instead.
func inliners(e *cli.Env, in *Input, r *afdo.Reader, symbols []afdo.Symbol) ([]afdo.Symbol, error) {
	var without []afdo.SymbolID
	for _, s := range symbols {
		if !s.HasInfo() {
			without = append(without, s.ID())
		}
	}
	if len(without) == 0 {
		return nil, nil
	}
	if told, err := tellsInlining(in, r); err != nil {
		return nil, err
	} else if !told {
		e.Warnf("%s has no index, so it is unknown in which functions this is inlined; \"afdo index\" adds one", human.Name(in.Name))
		return nil, nil
	}
	var found []afdo.Symbol
	for s, err := range index.NewProgram(r).InlinedInto(without) {
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

// tellsInlining reports whether the inlined functions are known without reading the whole file:
// from an index, or because the whole file was read in any case.
func tellsInlining(in *Input, r *afdo.Reader) (bool, error) {
	if !in.Format.V4() {
		return true, nil
	}
	x, err := index.Read(r)
	if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrIndex) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := x.Info()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(info.Blocks, func(b index.Block) bool { return b.Kind == "inlining" }), nil
}

// writeInliners lists functions below the units that have a symbol, as many as were asked for.
func writeInliners(w io.Writer, functions []afdo.Symbol, l *kind.LookupOptions) error {
	if len(functions) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\nInlined in\n"); err != nil {
		return err
	}
	shown := len(functions)
	if l.Number > 0 {
		shown = min(shown, int(l.Number))
	}
	t := &table.Table{Columns: "ll"}
	for _, s := range functions[:shown] {
		name := s.Name()
		if l.Demangle {
			name = demangled.Name(name)
		}
		t.Row(human.Name(name), human.Unit(s.Unit().Path()))
	}
	if err := t.Write(w, 2); err != nil || shown == len(functions) {
		return err
	}
	_, err := fmt.Fprintf(w, "  %s more\n", human.Number(len(functions)-shown))
	return err
}
