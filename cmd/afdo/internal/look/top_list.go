package look

import (
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// A topList is what top prints. Names are made as they are printed: a
// demangled one may be a thousand times as long as the other, and so may all together.
type topList struct {
	*kind.TopOptions
	profile *profile.Profile
	file    profile.UnitRef // what counts if HasUnit
}

// wanted reports whether a symbol belongs to the wanted unit.
func (l *topList) wanted(s profile.SymbolRef) bool {
	return !l.HasUnit || l.profile.SymbolUnit(s) == l.file
}

// shown returns how many of n lines are printed.
func (l *topList) shown(n int) int { return verb.Count(l.Number).Of(n) }

// functions returns what prints the hottest functions.
func (l *topList) functions() func(io.Writer) error {
	r := rank.New(l.profile)
	var symbols []profile.SymbolRef
	for i := range r.Symbols {
		if s := profile.SymbolRef(i); r.Symbols[i].Sampled() && l.wanted(s) {
			symbols = append(symbols, s)
		}
	}
	shown := rank.First(symbols, l.shown(len(symbols)), compareBy(l.Order, l.profile, r))
	return l.writer(r, shown, len(symbols)-len(shown))
}

// hottest is [topList.functions] of an overview.
func (l *topList) hottest(o *gcovkind.Overview) func(io.Writer) error {
	symbols := make([]profile.SymbolRef, l.shown(len(o.Ranking.Symbols)))
	for i := range symbols {
		symbols[i] = profile.SymbolRef(i)
	}
	return l.writer(o.Ranking, symbols, int(o.Sampled)-len(symbols))
}

// writer returns what prints functions.
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
		return demangled.InForms(func(form func(string) string) string { return l.name(symbols[i], form) }), human.Unit(l.unitOf(symbols[i]))
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

// calls returns what prints the most frequent call targets.
func (l *topList) calls() func(io.Writer) error {
	total := uint64(0)
	var calls []rank.Call
	for _, c := range rank.Calls(l.profile) {
		total = saturating.Add(total, c.Count)
		if l.wanted(c.Caller) {
			calls = append(calls, c)
		}
	}
	shown := calls[:l.shown(len(calls))]
	return func(w io.Writer) error {
		if l.JSON {
			return l.callsJSON(w, total, shown, len(calls)-len(shown))
		}
		return l.callsText(w, total, shown, len(calls)-len(shown))
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

// name returns the name of a symbol for people, demangled in a form unless that is not wanted.
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

// symbol writes the members that say which symbol it is.
func (j *topJSON) symbol(s profile.SymbolRef) {
	name := j.list.profile.SymbolName(s)
	j.Name("name", name)
	if j.list.Demangle {
		j.Name("demangled", demangled.Name(name))
	}
	j.Name("unit", j.list.unitOf(s))
}

// complete ends the list and the object that it is in.
func (j *topJSON) complete(leftOut int) error {
	j.End()
	j.Uint("left_out", uint64(leftOut))
	j.End()
	return j.Finish()
}
