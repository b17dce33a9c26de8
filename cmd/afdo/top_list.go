package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/go-afdo/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A topList is what top prints. Names are made as they are printed: a
// demangled one may be a thousand times as long as the other, and so may all together.
type topList struct {
	*top
	profile *profile.Profile
	file    profile.FileRef // what counts if inUnit
}

// wanted tells whether a symbol is of the unit that was asked for.
func (l *topList) wanted(s profile.SymbolRef) bool {
	return !l.inUnit || l.profile.SymbolFile(s) == l.file
}

// shown returns how many of n lines are to be printed.
func (l *topList) shown(n int) int {
	if l.number == 0 || uint(n) < l.number {
		return n
	}
	return int(l.number)
}

// functions returns what prints the hottest functions.
func (l *topList) functions() func(io.Writer) error {
	r := rank.New(l.profile)
	var symbols []profile.SymbolRef
	for i := range r.Symbols {
		if s := profile.SymbolRef(i); r.Symbols[i].Sampled() && l.wanted(s) {
			symbols = append(symbols, s)
		}
	}
	l.order.sort(symbols, l.profile, r)
	shown := symbols[:l.shown(len(symbols))]
	return func(w io.Writer) error {
		if l.json {
			return l.functionsJSON(w, r, shown, len(symbols)-len(shown))
		}
		return l.functionsText(w, r, shown, len(symbols)-len(shown))
	}
}

func (l *topList) functionsText(w io.Writer, r *rank.Ranking, symbols []profile.SymbolRef, leftOut int) error {
	t := &table{columns: "rrrrrr"}
	t.row("Own", "Own%", "Sum%", "Total", "Total%", "Head")
	sum := uint64(0)
	for _, s := range symbols {
		f := &r.Symbols[s]
		sum = saturating.Add(sum, f.Own)
		t.row(
			grouped(f.Own), percentage(f.Own, r.Total), percentage(sum, r.Total),
			grouped(f.Total), percentage(f.Total, r.Total), grouped(f.Head),
		)
	}
	return l.text(w, t, "Function", leftOut, func(i int) string {
		return l.name(symbols[i]) + "  " + printableUnit(l.unitOf(symbols[i]))
	})
}

func (l *topList) functionsJSON(w io.Writer, r *rank.Ranking, symbols []profile.SymbolRef, leftOut int) error {
	j := &topJSON{jsonWriter{w: w}, l}
	j.object("")
	j.uint("total", r.Total)
	j.array("functions")
	sum := uint64(0)
	for _, s := range symbols {
		f := &r.Symbols[s]
		sum = saturating.Add(sum, f.Own)
		j.object("")
		j.symbol(s)
		j.uint("own", f.Own)
		j.percent("own_percent", f.Own, r.Total)
		j.percent("sum_percent", sum, r.Total)
		j.uint("total", f.Total)
		j.percent("total_percent", f.Total, r.Total)
		j.uint("head_count", f.Head)
		j.end()
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
		if l.json {
			return l.callsJSON(w, total, shown, len(calls)-len(shown))
		}
		return l.callsText(w, total, shown, len(calls)-len(shown))
	}
}

func (l *topList) callsText(w io.Writer, total uint64, calls []rank.Call, leftOut int) error {
	t := &table{columns: "rrr"}
	t.row("Calls", "Calls%", "Sum%")
	sum := uint64(0)
	for _, c := range calls {
		sum = saturating.Add(sum, c.Count)
		t.row(grouped(c.Count), percentage(c.Count, total), percentage(sum, total))
	}
	return l.text(w, t, "Caller:line -> callee", leftOut, func(i int) string {
		c := calls[i]
		at := strconv.FormatUint(uint64(c.Line), 10)
		if c.Discriminator != 0 {
			at += "." + strconv.FormatUint(uint64(c.Discriminator), 10)
		}
		return fmt.Sprintf("%s:%s -> %s  %s", l.name(c.Caller), at, l.name(c.Callee), printableUnit(l.unitOf(c.Caller)))
	})
}

func (l *topList) callsJSON(w io.Writer, total uint64, calls []rank.Call, leftOut int) error {
	j := &topJSON{jsonWriter{w: w}, l}
	j.object("")
	j.uint("total", total)
	j.array("calls")
	sum := uint64(0)
	for _, c := range calls {
		sum = saturating.Add(sum, c.Count)
		j.object("")
		j.object("caller")
		j.symbol(c.Caller)
		j.end()
		j.uint("line", uint64(c.Line))
		j.uint("discriminator", uint64(c.Discriminator))
		j.object("callee")
		j.symbol(c.Callee)
		j.end()
		j.uint("count", c.Count)
		j.percent("percent", c.Count, total)
		j.percent("sum_percent", sum, total)
		j.end()
	}
	return j.complete(leftOut)
}

// text prints a table of numbers with what they are about behind them: its
// first row under the title, and a line for those that are left out.
func (l *topList) text(w io.Writer, numbers *table, title string, leftOut int, about func(row int) string) error {
	var lines bytes.Buffer
	if err := numbers.write(&lines, 0); err != nil {
		return err
	}
	for i := range numbers.rows {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		behind := title
		if i > 0 {
			behind = about(i - 1)
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", bytes.TrimSuffix(line, []byte("\n")), behind); err != nil {
			return err
		}
	}
	if leftOut > 0 {
		_, err := fmt.Fprintf(w, "%s more\n", grouped(uint64(leftOut)))
		return err
	}
	return nil
}

// name returns the name of a symbol for people.
func (l *topList) name(s profile.SymbolRef) string {
	name := l.profile.SymbolName(s)
	if l.demangle {
		name = demangled(name)
	}
	return printable(name)
}

func (l *topList) unitOf(s profile.SymbolRef) string {
	return l.profile.FilePath(l.profile.SymbolFile(s))
}

// percentage returns which part of a total something is.
func percentage(part, total uint64) string {
	return strconv.FormatFloat(percent(part, total), 'f', 2, 64) + "%"
}

func percent(part, total uint64) float64 {
	if total == 0 {
		return 0
	}
	return 100 * float64(part) / float64(total)
}

// A topJSON writes a topList as JSON.
type topJSON struct {
	jsonWriter
	list *topList
}

// symbol writes the members that say which symbol it is.
func (j *topJSON) symbol(s profile.SymbolRef) {
	name := j.list.profile.SymbolName(s)
	j.name("name", name)
	if j.list.demangle {
		j.name("demangled", demangled(name))
	}
	j.name("unit", j.list.unitOf(s))
}

func (j *topJSON) percent(key string, part, total uint64) {
	j.next(key)
	j.buf = strconv.AppendFloat(j.buf, percent(part, total), 'f', -1, 64)
}

// complete ends the list and the object that it is in.
func (j *topJSON) complete(leftOut int) error {
	j.end()
	j.uint("left_out", uint64(leftOut))
	j.end()
	return j.finish()
}
