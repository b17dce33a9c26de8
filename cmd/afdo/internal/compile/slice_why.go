package compile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// The rules of docs/guide/slices.md that put something into a slice.
const (
	mayBeDefined = "may be defined"   // rules 1 and 2
	onlyName     = "name"             // rule 3
	inlinedInIt  = "inlined in it"    // rule 4
	ofSummary    = "summary"          // rule 5
	ofFileName   = "last of its name" // rule 6
)

// An item is what a slice holds: of a symbol, a file, or the summary.
type item struct {
	rule string
	text string // all that the slice has of it
}

// sliceWhy prints the differences between two slices of one compile, with the rules that caused
// them.
func sliceWhy(e *verb.Env, old, fresh string) error {
	var sides [2]map[string]item
	for i, path := range []string{old, fresh} {
		err := e.WithGCOV("slice", path, func(in *gcovkind.Input) error {
			p, err := in.Profile()
			if err == nil {
				sides[i] = itemsOf(p)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	lines := differences(sides[0], sides[1])
	err := output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, ""))
		return err
	})
	if err == nil && len(lines) > 0 {
		err = cli.StatusError(cli.StatusFault)
	}
	return err
}

// differences returns a line for each item that was added, removed or changed, grouped by rule.
func differences(old, fresh map[string]item) (lines []string) {
	type change struct{ rule, what, name string }
	var changes []change
	for name, was := range old {
		if now, ok := fresh[name]; !ok {
			changes = append(changes, change{was.rule, "went", name})
		} else if now != was {
			changes = append(changes, change{now.rule, "changed", name})
		}
	}
	for name, now := range fresh {
		if _, ok := old[name]; !ok {
			changes = append(changes, change{now.rule, "came", name})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(strings.Compare(a.rule, b.rule), strings.Compare(a.what, b.what), strings.Compare(a.name, b.name))
	})
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%-7s  %-16s  %s\n", c.what, c.rule, human.Name(c.name)))
	}
	return lines
}

// itemsOf returns the items of a slice by name. Symbols with the same name in several files have
// the file in their name.
func itemsOf(p *profile.Profile) map[string]item {
	items := make(map[string]item)
	used := make(map[profile.UnitRef]bool)
	for i := range p.NumSymbols() {
		s := profile.SymbolRef(i)
		used[p.SymbolUnit(s)] = true
		name := p.SymbolName(s)
		if path := p.UnitPath(p.SymbolUnit(s)); path != "" {
			name += " of " + path
		}
		items[name] = itemOf(p, p.Function(s))
	}
	for i := range p.NumUnits() {
		unit := profile.UnitRef(i)
		if path := p.UnitPath(unit); path != "" && !used[unit] {
			items[path] = item{rule: ofFileName}
		}
	}
	if p.Summary != nil {
		items["summary"] = item{ofSummary, fmt.Sprint(*p.Summary)}
	}
	return items
}

// itemOf returns the item of a symbol. A function without calls and counts of its own is in the
// slice because of functions inlined in it.
func itemOf(p *profile.Profile, f *profile.Function) item {
	if f == nil {
		return item{rule: onlyName}
	}
	var text strings.Builder
	own := f.HeadCount > 0
	fmt.Fprintln(&text, f.HeadCount, f.Timestamp)
	w := profile.Walk(f.Records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		own = own || depth == 0 && r.Kind != profile.KindInlined
		callee := ""
		if r.Kind != profile.KindCount {
			callee = p.SymbolName(r.Callee)
		}
		fmt.Fprintln(&text, depth, r.Kind, r.Line, r.Discriminator, r.Count, callee)
	}
	if own {
		return item{mayBeDefined, text.String()}
	}
	return item{inlinedInIt, text.String()}
}
