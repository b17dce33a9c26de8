// Package explain reports how a compiler used a profile. For each count it finds out whether the
// compiler, or the debug info of a newer binary, has a statement at that location, and if not, why.
//
//	e := explain.New(p)
//	e.Add(code...) // of Compiling.Compile or Binary
//	report := e.Report()
//
// The compilers report themselves what they used: GCC 16 in the dump of its pass afdo_offline, GCC
// 12 to 15 in the dump of pass afdo, and clang in its remarks.
package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

// A Reason says whether a count was used, or why not.
type Reason string

// The reasons, the best first: of several compiles the one counts that has made the best of a
// count.
const (
	Found       Reason = "found"               // there is a statement at its place
	Apart       Reason = "found apart"         // the call is not inlined, and the function by itself has the statement
	Border      Reason = "begin or end"        // it is where a function begins or ends, which needs no count
	NoStatement Reason = "no statement"        // the function has no statement there
	OneBlock    Reason = "block of a line"     // GCC 12 takes one block of the line for all, and this is another
	Inlined     Reason = "inlined otherwise"   // the function is there, but not inlined at that call
	Declared    Reason = "declared elsewhere"  // every line is off by the same: the declaration has moved in the function
	Edited      Reason = "edited"              // the function is not the one that was profiled
	Foreign     Reason = "another program"     // the function is that of another program; see [Stranger]
	Unoptimised Reason = "not optimised"       // its unit is compiled with -O0
	Unprofiled  Reason = "without the profile" // its unit is compiled without the profile, as others are not
	Nowhere     Reason = "compiled nowhere"    // no compile has the function
)

// Reasons are all of them, the best first.
var Reasons = []Reason{Found, Apart, Border, NoStatement, OneBlock, Inlined, Declared, Edited, Foreign, Unoptimised, Unprofiled, Nowhere}

// Findable reports whether a compiler of this version could have found a count: the others are at
// places for which the compiler looks up no count.
func (r Reason) Findable() bool { return r != Border && r != OneBlock }

// lost reports whether the compiler did not use a count with this reason.
func (r Reason) lost() bool { return r != Found && r != Apart }

// better returns the better one of two.
func better(a, b Reason) Reason {
	if slices.Index(Reasons, a) <= slices.Index(Reasons, b) {
		return a
	}
	return b
}

// Advice says what to do about counts that are lost for a reason, empty if there is nothing to do.
func (r Reason) Advice() string {
	switch r {
	case NoStatement, Inlined:
		return "compile with the options and the compiler of the program that was profiled"
	case OneBlock:
		return "GCC 13 and later tell the blocks of a line apart"
	case Declared, Edited:
		return "record the new program"
	case Foreign:
		return "give the profile of the program that is compiled"
	case Unoptimised:
		return "compile with -O2"
	case Unprofiled:
		return "put afdo exec before its compiler"
	case Nowhere:
		return "is the profile of this program, and is all of it compiled here?"
	}
	return ""
}

// A Tally contains sums of counts by reason.
type Tally struct {
	Counts  uint64
	Found   uint64
	Reasons map[Reason]uint64
}

func (t *Tally) add(r Reason, n uint64) {
	if t.Reasons == nil {
		t.Reasons = make(map[Reason]uint64)
	}
	t.Counts = saturating.Add(t.Counts, n)
	t.Reasons[r] = saturating.Add(t.Reasons[r], n)
	if !r.lost() {
		t.Found = saturating.Add(t.Found, n)
	}
}

// Worst returns the reason that loses most, [Found] if none does. Where functions begin and end
// counts only if nothing else is lost.
func (t *Tally) Worst() Reason {
	worst := Found
	for _, r := range Reasons {
		if t.Reasons[r] > 0 && r.lost() && (!worst.lost() || worst == Border || t.Reasons[r] > t.Reasons[worst]) {
			worst = r
		}
	}
	return worst
}

// A Function describes how the counts of a function were used, including the counts of its inlined
// copies.
type Function struct {
	Tally
	Name   string
	Reason Reason // of most of what it loses; [Found] if it loses nothing
	File   string // where it is declared, empty if no compile has it and the profile does not tell
	Line   uint32

	// EntryUsed is set if a compiler used the number of times that the function was entered. That
	// changes the code even if all counts are lost.
	EntryUsed bool
}

// Suspect returns the counts that cannot be relied upon: those lost, and all of a function that was
// edited, where lines that do not belong together may match.
func (f *Function) Suspect() uint64 {
	if f.Reason == Edited || f.Reason == Declared {
		return f.Counts
	}
	return f.Counts - f.Found - f.Reasons[Border]
}

// A Unit is what one compile has made of the functions that it has.
type Unit struct {
	Tally
	Name     string
	Compiler string
	Reason   Reason // [Unoptimised] or [Unprofiled], else empty
}

// A Report describes how a whole profile was used.
type Report struct {
	Tally
	Elsewhere uint64     // counts of functions of other units, if only those of the compiles were asked for
	Stranger  *Stranger  // nil if the profile has functions of the compiles
	Functions []Function // those that lose most first
	Units     []Unit     // in the order in which they were added
}

// An Explainer holds a profile against compiles. It is not safe for concurrent use.
type Explainer struct {
	// Placed, unless nil, reports whether the lines of a symbol of a unit are known to be where the
	// profile has them: its file is the same as then, or its counts were moved. Other functions are
	// taken for edited by the lines that have code, which another compiler may have elsewhere.
	Placed func(unit, symbol string) bool

	profile   *profile.Profile
	codes     []*Code
	stranger  *Stranger         // as of the last report
	namesakes map[namesake]bool // likewise
}

// New returns an explainer of a profile, which must not change.
func New(p *profile.Profile) *Explainer { return &Explainer{profile: p} }

// Add adds what compiles have.
func (e *Explainer) Add(codes ...*Code) { e.codes = append(e.codes, codes...) }

// Report returns a report on the whole profile.
func (e *Explainer) Report() *Report { return e.report(false) }

// ReportPart returns a report on the functions of the compiles, which are a part of a program. If
// the profile contains none of these functions, the report is about the whole profile.
func (e *Explainer) ReportPart() *Report {
	if r := e.report(true); r.Counts > 0 {
		return r
	}
	return e.report(false)
}

func (e *Explainer) report(part bool) *Report {
	profiled := shapesOf(e.profile)
	e.findStranger(profiled)
	e.namesakes = e.findNamesakes()
	all := e.tally(e.codes, profiled, part)
	entered := e.entered()
	r := &Report{Tally: all.sum, Elsewhere: all.elsewhere, Stranger: e.stranger}
	for name, t := range all.functions {
		f := Function{Tally: *t, Name: name, Reason: t.Worst()}
		if how := all.changed[name]; how != "" {
			f.Reason = how
		}
		f.File, f.Line = e.declaration(name, all.files[name])
		f.EntryUsed = e.entryUsed(name, entered)
		r.Functions = append(r.Functions, f)
	}
	slices.SortFunc(r.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Suspect(), a.Suspect()), cmp.Compare(b.Counts, a.Counts), strings.Compare(a.Name, b.Name))
	})
	for _, c := range e.codes {
		own := e.tally([]*Code{c}, profiled, true)
		r.Units = append(r.Units, Unit{Tally: own.sum, Name: c.Name, Compiler: c.Compiler, Reason: c.fault})
	}
	return r
}

// entered returns the functions with a head count, by canonical name.
func (e *Explainer) entered() map[string]bool {
	names := make(map[string]bool)
	for s, f := range e.profile.Functions() {
		if f.HeadCount > 0 {
			names[create.SelectedSuffixes.Name(e.profile.SymbolName(s))] = true
		}
	}
	return names
}

// entryUsed reports whether a compiler has a function and used its entries: its head count, or
// the entries of inlined bodies that the compiler adds to the function.
func (e *Explainer) entryUsed(name string, entered map[string]bool) bool {
	return slices.ContainsFunc(e.codes, func(c *Code) bool {
		return (entered[name] || c.addsBodies) && c.Compiler != "" && c.fault == "" && c.defined[name] && !e.namesakes[namesake{c, name}]
	})
}

// declaration returns where a function is declared.
func (e *Explainer) declaration(name, otherwise string) (file string, line uint32) {
	for _, c := range e.codes {
		if d, ok := c.declared[name]; ok {
			return d.File, d.Line
		}
	}
	return otherwise, 0
}

// A frame is a function and a place in it.
type frame struct {
	name  string
	place place
	again bool // of a count: its line has another one behind it
}

// A counting adds up the counts of a profile by reason.
type counting struct {
	codes     []*Code
	part      bool // functions that are in other units do not count
	sum       Tally
	elsewhere uint64
	functions map[string]*Tally
	changed   map[string]Reason
	files     map[string]string
	namesakes map[namesake]bool
	stranger  bool // the profile is of another program
}

// tally judges counts by the best that any of the codes has made of them.
func (e *Explainer) tally(codes []*Code, profiled map[string]*shape, part bool) *counting {
	t := &counting{
		codes: codes, part: part, functions: make(map[string]*Tally), files: e.files(), namesakes: e.namesakes, stranger: e.stranger != nil,
	}
	t.changed = changes(profiled, codes)
	e.unedited(t.changed)
	if t.stranger {
		delete(t.changed, mainFunction)
	}
	eachCount(e.profile, func(frames []frame, r *profile.Record) {
		if r.Kind == profile.KindCount {
			t.count(frames, r.Count)
		}
	})
	return t
}

// files returns the paths of the units of functions.
func (e *Explainer) files() map[string]string {
	files := make(map[string]string)
	for s := range e.profile.Functions() {
		files[create.SelectedSuffixes.Name(e.profile.SymbolName(s))] = e.profile.UnitPath(e.profile.SymbolUnit(s))
	}
	return files
}

// unedited takes back that functions have changed whose lines are known.
func (e *Explainer) unedited(changed map[string]Reason) {
	if e.Placed == nil || len(changed) == 0 {
		return
	}
	for s := range e.profile.NumSymbols() {
		ref := profile.SymbolRef(s)
		symbol := e.profile.SymbolName(ref)
		name := create.SelectedSuffixes.Name(symbol)
		if changed[name] != "" && e.Placed(e.profile.UnitPath(e.profile.SymbolUnit(ref)), symbol) {
			delete(changed, name)
		}
	}
}

func (t *counting) count(frames []frame, n uint64) {
	leaf := frames[len(frames)-1].name
	reason := Nowhere
	for _, c := range t.codes {
		if !t.namesakes[namesake{c, leaf}] {
			reason = better(reason, c.of(frames))
		}
	}
	if reason == Nowhere && t.part && !t.compiles(t.files[frames[0].name]) {
		t.elsewhere = saturating.Add(t.elsewhere, n)
		return
	}
	if how := t.changed[leaf]; how != "" && reason.lost() && reason != Nowhere {
		reason = how
	}
	if t.stranger && leaf == mainFunction && reason != Nowhere {
		reason = Foreign
	}
	f := t.functions[leaf]
	if f == nil {
		f = new(Tally)
		t.functions[leaf] = f
	}
	f.add(reason, n)
	t.sum.add(reason, n)
}

// compiles reports whether a file is one of the sources.
func (t *counting) compiles(path string) bool {
	return slices.ContainsFunc(t.codes, func(c *Code) bool { return c.compiles(path) })
}

// eachCount calls do for each record of a profile with the functions and places on the way to it,
// which it must not keep. Functions have no suffixes, as for the compilers that look for them.
func eachCount(p *profile.Profile, do func([]frame, *profile.Record)) {
	for s, f := range p.Functions() {
		frames := []frame{{name: create.SelectedSuffixes.Name(p.SymbolName(s))}}
		again := repeated(f.Records)
		records := profile.Walk(f.Records)
		for r, depth, ok := records.Next(); ok; r, depth, ok = records.Next() {
			frames = frames[:depth+1]
			frames[depth].place, frames[depth].again = placeOf(r), again[r]
			do(frames, r)
			if r.Kind == profile.KindInlined {
				frames = append(frames, frame{name: p.SymbolName(r.Callee)})
			}
		}
	}
}

// repeated returns the counts of a function whose line has another count after them in the same
// body.
func repeated(records []profile.Record) map[*profile.Record]bool {
	again := make(map[*profile.Record]bool)
	var last []*profile.Record // of the bodies that lead here
	walk := profile.Walk(records)
	for r, depth, ok := walk.Next(); ok; r, depth, ok = walk.Next() {
		if depth == len(last) {
			last = append(last, nil)
		}
		last = last[:depth+1]
		if r.Kind != profile.KindCount {
			continue
		}
		if before := last[depth]; before != nil && before.Line == r.Line {
			again[before] = true
		}
		last[depth] = r
	}
	return again
}
