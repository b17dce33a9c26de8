package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// arcFacts is the JSON report of "afdo explain --as arcs": how much of a profile could be converted
// to counts of arcs in the control flow graphs.
type arcFacts struct {
	Profile string `json:"profile"`
	arcs.Report
	Units []arcUnit `json:"units"` // the units with the most counts first
}

// arcUnit reports, for one compile, how much of the profile could be converted to counts of arcs.
type arcUnit struct {
	Unit string `json:"unit"`
	arcs.Report
	Why string `json:"why,omitempty"` // why no counts of arcs could be inferred
}

// runExplainArcs runs compiles and infers from a profile how often each arc of their control flow
// graphs ran. It reports how much of the profile the inferred counts use. The compiles come from
// the command argv or from a compilation database.
func runExplainArcs(ctx context.Context, e *verb.Env, path string, argv []string, x *explaining) error {
	compiles, err := x.compiles(argv)
	if err != nil {
		return err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "afdo-explain-")
	if err != nil {
		return err
	}
	facts, err := explainArcs(ctx, absolute, folder, compiles, x)
	if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
		return err
	}
	facts.Profile = input.Name(path)
	if x.json {
		err = output.JSON(e.Out, facts)
	} else {
		err = output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return facts.print(w, x.number) })
	}
	if share := float64(facts.Owned) / max(float64(facts.Counted), 1); err == nil && (facts.Inferred == 0 || share < float64(x.minFound)) {
		return cli.StatusError(cli.StatusFault)
	}
	return err
}

func explainArcs(ctx context.Context, path, folder string, compiles []compile, x *explaining) (*arcFacts, error) {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	facts := &arcFacts{Units: make([]arcUnit, len(compiles))}
	cache, err := driver.OpenCacheIn(filepath.Join(folder, "cache"))
	if err != nil {
		return nil, err
	}
	err = inParallel(len(compiles), x.jobs, func(i int) error {
		c, u := compiles[i].command, &facts.Units[i]
		u.Unit, u.Why = compiles[i].source, "no counts"
		said := func(text string) { u.Why = text }
		l := driver.Launcher{
			Profile: path, Arcs: true, ArcsFolder: folder, Cache: cache, Warn: said,
			OnArcs: func(r *arcs.Report) { u.Add(r) },
		}
		if _, err := l.Prepare(ctx, c.Argv(), c.Dir); err != nil {
			return fmt.Errorf("%s: %w", human.Name(u.Unit), err)
		}
		if u.Inferred > 0 {
			u.Why = ""
		}
		return nil
	})
	for _, u := range facts.Units {
		facts.Add(&u.Report)
	}
	slices.SortStableFunc(facts.Units, func(a, b arcUnit) int { return cmp.Compare(b.Counted, a.Counted) })
	return facts, err
}

func (f *arcFacts) print(w io.Writer, most table.Count) error {
	share := func(part, whole uint64) string {
		return fmt.Sprintf("%.1f%%", 100*float64(part)/max(float64(whole), 1))
	}
	t := table.Table{Columns: "lrr"}
	t.Row("Counts of machine code", human.Number(f.Counted), "")
	t.Row("  with an owner in a graph", human.Number(f.Owned), share(f.Owned, f.Counted))
	t.Row("Functions", human.Number(f.Functions), "")
	t.Row("  with counts of arcs", human.Number(f.Inferred), share(uint64(f.Inferred), uint64(f.Functions)))
	t.Row("  that do not match", human.Number(f.Mismatched), share(uint64(f.Mismatched), uint64(f.Functions)))
	t.Row("Blocks of functions with counts", human.Number(f.Blocks), "")
	t.Row("  guessed, without evidence", human.Number(f.Guessed), share(uint64(f.Guessed), uint64(f.Blocks)))
	t.Row("Evidence", human.Number(f.Evidence), "")
	t.Row("  moved to keep the flow", human.Number(f.Moved), share(f.Moved, f.Evidence))
	units := table.Table{Columns: "lrrr"}
	units.Row("Unit", "Counts", "Owned", "Moved")
	for _, u := range f.Units[:most.Of(len(f.Units))] {
		if u.Why != "" {
			units.Row(human.Name(u.Unit), u.Why, "", "")
			continue
		}
		units.Row(human.Name(u.Unit), human.Number(u.Counted), share(u.Owned, u.Counted), share(u.Moved, u.Evidence))
	}
	_, err := fmt.Fprintf(w, "%s: counts of arcs\n%s\n%s", human.Name(f.Profile), t.Text(2), units.Text(2))
	return err
}
