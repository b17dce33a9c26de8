package look

import (
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
	"github.com/spf13/cobra"
)

const topHelp = `Print the functions of FILE that have the most samples.

  Own    samples of the function's own lines, in its body and wherever it has
         been inlined. The own samples of all functions add up to the profile's
         total, which is 100%.
  Sum    Own of this function and of those above it.
  Total  Own and the samples of what is inlined in the function. Samples count
         once even if the function is inlined in itself.
  Head   how often the function was entered, 0 if it has no body of its own.

With --calls, print the most frequent call targets instead: the caller, the line
of the call as an offset from that of the caller's declaration, its
discriminator if it has one, and the callee. Inlined calls do not count.

With --unit, print only functions and callers of that unit; PATH may be the end of
its path at a "/". Percentages are those of the whole profile.

A terminal gets names as short as it is wide, and if it is narrow, fewer columns and
paths; the last line says which are missing. With -v, or outside a terminal, names are whole.

--sort name sorts by assembler names.`

func NewTop(e *verb.Env) *cobra.Command {
	t := kind.TopOptions{Number: 25}
	cmd := &cobra.Command{
		Use:   "top FILE",
		Short: "List the hottest functions or calls of a profile",
		Long:  topHelp,
		Args:  verb.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.HasUnit = cmd.Flags().Changed("unit")
			t.Width = e.Width()
			if t.Calls && cmd.Flags().Changed("sort") {
				return cli.Usagef("--sort is for functions: calls come by their number")
			}
			return e.WithOverview(args[0], func(f *input.File, k kind.Kind, o *gcovkind.Overview) error {
				if o != nil && !t.HasUnit && !t.Calls && t.Order == usualOrder && o.Lists(uint(t.Number)) { // the overview has all that is printed
					list := topList{TopOptions: &t, profile: o.Hottest}
					return output.Write(e.Out, cli.Stdio, list.hottest(o))
				}
				f.Keep()
				return verb.Dispatch(e, "top", k,
					func(k kind.CanTop) error { return k.Top(&e.Env, f, &t) },
					func(k kind.CanLoad) error { return runTop(e, f, k, &t) })
			})
		},
	}
	f := cmd.Flags()
	f.VarP(&t.Number, "number", "n", "how many lines to print, 0 for all")
	f.VarP(verb.OnceFlag(&t.Unit), "unit", "u", "path of a unit, or the end of one")
	verb.AddChoice(cmd, &t.Order, "sort", "", "order of the functions", verb.Words([]string{usualOrder, "total", "head", "name"})...)
	f.BoolVar(&t.Calls, "calls", false, "print call targets")
	e.AddWholeFlag(cmd)
	f.BoolVar(&t.JSON, "json", false, "print JSON")
	verb.AddDemangleFlags(cmd, &t.Demangle)
	_ = cmd.RegisterFlagCompletionFunc("unit", e.CompleteUnits)
	e.AddKindFlags(cmd)
	return cmd
}

func runTop(e *verb.Env, f *input.File, k kind.CanLoad, t *kind.TopOptions) error {
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(f.Name))
	defer doing.Stop()
	l, err := k.Load(f)
	if err != nil {
		return err
	}
	list := topList{TopOptions: t, profile: l.Profile}
	if t.HasUnit {
		if list.file, err = find.File(l.Profile, t.Unit); err != nil {
			return err
		}
	}
	var write func(io.Writer) error
	if t.Calls {
		write = list.calls()
	} else {
		write = list.functions()
	}
	doing.Stop()
	return output.Write(e.Out, cli.Stdio, write)
}

const usualOrder = "own" // the default of --sort

// topCounts has the counts by which the verb top can order functions, the largest first. The key is
// the word of --sort. The word "name" has no count.
var topCounts = map[string]func(s *rank.Symbol) uint64{
	usualOrder: func(s *rank.Symbol) uint64 { return s.Own },
	"total":    func(s *rank.Symbol) uint64 { return s.Total },
	"head":     func(s *rank.Symbol) uint64 { return s.Head },
}

// A topList is the list that the verb top prints. Names are demangled as they are printed, because
// a demangled name may be a thousand times as long as the mangled one.
type topList struct {
	*kind.TopOptions
	profile *profile.Profile
	file    profile.UnitRef // the unit that --unit selects, if HasUnit
}

// wanted reports whether the list may contain a symbol. With --unit, only symbols of that unit are
// in the list.
func (l *topList) wanted(s profile.SymbolRef) bool {
	return !l.HasUnit || l.profile.SymbolUnit(s) == l.file
}

// functions returns a function that prints the functions with the most samples.
func (l *topList) functions() func(io.Writer) error {
	r := rank.New(l.profile)
	var symbols []profile.SymbolRef
	for i := range r.Symbols {
		if s := profile.SymbolRef(i); r.Symbols[i].Sampled() && l.wanted(s) {
			symbols = append(symbols, s)
		}
	}
	shown := rank.First(symbols, l.Number.Of(len(symbols)), rank.Order(l.profile, r, topCounts[l.Order]))
	return l.writer(r, shown, len(symbols)-len(shown))
}

// hottest returns a function that prints the functions with the most samples, as
// [topList.functions] does. It takes them from the overview in the index of a file, which has only
// the first ones.
func (l *topList) hottest(o *gcovkind.Overview) func(io.Writer) error {
	symbols := make([]profile.SymbolRef, l.Number.Of(len(o.Ranking.Symbols)))
	for i := range symbols {
		symbols[i] = profile.SymbolRef(i)
	}
	return l.writer(o.Ranking, symbols, int(o.Sampled)-len(symbols))
}

// writer returns a function that prints the given symbols with their counts. It ends with the
// number leftOut, of symbols that the list does not have.
func (l *topList) writer(r *rank.Ranking, symbols []profile.SymbolRef, leftOut int) func(io.Writer) error {
	return func(w io.Writer) error {
		if l.JSON {
			return l.functionsJSON(w, r, symbols, leftOut)
		}
		return l.functionsText(w, r, symbols, leftOut)
	}
}

func (l *topList) functionsText(w io.Writer, r *rank.Ranking, symbols []profile.SymbolRef, leftOut int) error {
	t := &table.List{Numbers: table.Table{Columns: "rrrrrr"}, Heading: "Function", LeftOut: leftOut, Width: l.Width}
	t.Numbers.Row("Own", "Own%", "Sum%", "Total", "Total%", "Head")
	t.Spare = []int{5, 2, 3}
	sum := uint64(0)
	for _, s := range symbols {
		f := &r.Symbols[s]
		sum = saturating.Add(sum, f.Own)
		t.Numbers.Row(
			human.Number(f.Own), human.Percentage(f.Own, r.Total), human.Percentage(sum, r.Total),
			human.Number(f.Total), human.Percentage(f.Total, r.Total), human.Number(f.Head),
		)
	}
	t.About = func(i int) (iter.Seq[string], string) {
		return demangled.Forms(l.profile.SymbolName(symbols[i]), l.Demangle), human.Unit(l.unitOf(symbols[i]))
	}
	return t.Write(w, 0)
}

func (l *topList) functionsJSON(w io.Writer, r *rank.Ranking, symbols []profile.SymbolRef, leftOut int) error {
	j := &topJSON{jsonstream.New(w), l}
	j.Object("")
	j.Uint("total", r.Total)
	j.Array("functions")
	sum := uint64(0)
	for _, s := range symbols {
		f := &r.Symbols[s]
		sum = saturating.Add(sum, f.Own)
		j.Object("")
		j.symbol(s)
		j.Uint("own", f.Own)
		j.Float("own_share", human.Share(f.Own, r.Total))
		j.Float("sum_share", human.Share(sum, r.Total))
		j.Uint("total", f.Total)
		j.Float("total_share", human.Share(f.Total, r.Total))
		j.Uint("head_count", f.Head)
		j.End()
	}
	return j.complete(leftOut)
}

// calls returns a function that prints the call targets with the most calls.
func (l *topList) calls() func(io.Writer) error {
	total := uint64(0)
	var calls []rank.Call
	for _, c := range rank.Calls(l.profile) {
		total = saturating.Add(total, c.Count)
		if l.wanted(c.Caller) {
			calls = append(calls, c)
		}
	}
	shown, leftOut := table.First(calls, l.Number)
	return func(w io.Writer) error {
		if l.JSON {
			return l.callsJSON(w, total, shown, leftOut)
		}
		return l.callsText(w, total, shown, leftOut)
	}
}

func (l *topList) callsText(w io.Writer, total uint64, calls []rank.Call, leftOut int) error {
	t := &table.List{Numbers: table.Table{Columns: "rrr"}, Heading: "Caller:line -> callee", LeftOut: leftOut, Width: l.Width}
	t.Numbers.Row("Calls", "Calls%", "Sum%")
	sum := uint64(0)
	for _, c := range calls {
		sum = saturating.Add(sum, c.Count)
		t.Numbers.Row(human.Number(c.Count), human.Percentage(c.Count, total), human.Percentage(sum, total))
	}
	t.Spare = []int{2}
	t.About = func(i int) (iter.Seq[string], string) {
		c := calls[i]
		at := strconv.Itoa(int(wire.Offset(c.Line)))
		if c.Discriminator != 0 {
			at += "." + strconv.FormatUint(uint64(c.Discriminator), 10)
		}
		return demangled.InForms(func(form func(string) string) string {
			return fmt.Sprintf("%s:%s -> %s", l.name(c.Caller, form), at, l.name(c.Callee, form))
		}), human.Unit(l.unitOf(c.Caller))
	}
	return t.Write(w, 0)
}

func (l *topList) callsJSON(w io.Writer, total uint64, calls []rank.Call, leftOut int) error {
	j := &topJSON{jsonstream.New(w), l}
	j.Object("")
	j.Uint("total", total)
	j.Array("calls")
	sum := uint64(0)
	for _, c := range calls {
		sum = saturating.Add(sum, c.Count)
		j.Object("")
		j.Object("caller")
		j.symbol(c.Caller)
		j.End()
		j.Uint("line", uint64(c.Line))
		j.Uint("discriminator", uint64(c.Discriminator))
		j.Object("callee")
		j.symbol(c.Callee)
		j.End()
		j.Uint("count", c.Count)
		j.Float("share", human.Share(c.Count, total))
		j.Float("sum_share", human.Share(sum, total))
		j.End()
	}
	return j.complete(leftOut)
}

// name returns the name of a symbol for printing. It demangles the name with form, unless
// --no-demangle was given.
func (l *topList) name(s profile.SymbolRef, form func(string) string) string {
	name := l.profile.SymbolName(s)
	if l.Demangle {
		name = form(name)
	}
	return human.Name(name)
}

func (l *topList) unitOf(s profile.SymbolRef) string {
	return l.profile.UnitPath(l.profile.SymbolUnit(s))
}

// A topJSON writes a topList as JSON.
type topJSON struct {
	*jsonstream.Writer
	list *topList
}

// symbol writes the JSON members that identify a symbol.
func (j *topJSON) symbol(s profile.SymbolRef) {
	name := j.list.profile.SymbolName(s)
	j.Name("name", name)
	if j.list.Demangle {
		j.Name("demangled", demangled.Name(name))
	}
	j.Name("unit", j.list.unitOf(s))
}

// complete ends the JSON document. leftOut is the number of functions or calls that it does not
// list.
func (j *topJSON) complete(leftOut int) error {
	j.End()
	j.Uint("left_out", uint64(leftOut))
	j.End()
	return j.Finish()
}
