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
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

// A Reason says whether a count of the profile was used by a compile, or why not.
type Reason string

// These are the reasons, the best first. If several compiles have the function, the best reason
// counts.
const (
	Found       Reason = "found"               // the compiler has a statement at the count's location
	Apart       Reason = "found apart"         // the call is not inlined any more, but the called function has the statement
	Border      Reason = "begin or end"        // the location is the beginning or end of a function, where compilers need no count
	NoStatement Reason = "no statement"        // the function has no statement at that location
	OneBlock    Reason = "block of a line"     // GCC 12 uses the count of only one block of each line, and this count is of another block
	Inlined     Reason = "inlined otherwise"   // the function was compiled, but not inlined at that call
	Declared    Reason = "declared elsewhere"  // all lines differ by the same number, because the declaration was moved
	Edited      Reason = "edited"              // the function was edited since the profile was made
	Foreign     Reason = "another program"     // the profiled function belongs to another program; see [Stranger]
	Unoptimised Reason = "not optimised"       // the unit is compiled with -O0
	Unprofiled  Reason = "without the profile" // the unit is compiled without the profile, but others are compiled with it
	Nowhere     Reason = "compiled nowhere"    // no compile has the function
)

// Reasons are all reasons, the best first.
var Reasons = []Reason{Found, Apart, Border, NoStatement, OneBlock, Inlined, Declared, Edited, Foreign, Unoptimised, Unprofiled, Nowhere}

// Findable reports whether a compiler could have found a count with this reason. It is false for
// counts at locations that the compiler does not look up.
func (r Reason) Findable() bool { return r != Border && r != OneBlock }

// lost reports whether the compiler did not use a count with this reason.
func (r Reason) lost() bool { return r != Found && r != Apart }

// better returns the better one of two reasons: the one that comes first in [Reasons].
func better(a, b Reason) Reason {
	if slices.Index(Reasons, a) <= slices.Index(Reasons, b) {
		return a
	}
	return b
}

// Advice returns what the user can do about counts that are lost for a reason, or "" if nothing.
func (r Reason) Advice() string { return advice[r] }

// advice has the results of [Reason.Advice].
var advice = map[Reason]string{
	NoStatement: "compile with the options and the compiler of the program that was profiled",
	Inlined:     "compile with the options and the compiler of the program that was profiled",
	OneBlock:    "GCC 13 and later tell the blocks of a line apart",
	Declared:    "record the new program",
	Edited:      "record the new program",
	Foreign:     "give the profile of the program that is compiled",
	Unoptimised: "compile with -O2",
	Unprofiled:  "put afdo exec before its compiler",
	Nowhere:     "is the profile of this program, and is all of it compiled here?",
}

// A Tally contains sums of the counts in a profile: one sum for each reason why counts were used or
// not.
type Tally struct {
	Counts  uint64            `json:"counts"` // sum of all counts
	Found   uint64            `json:"found"`  // sum of the counts that a compiler used
	Reasons map[Reason]uint64 `json:"-"`      // sums by reason
}

// add adds a count of n with the given reason to the sums.
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

// Worst returns the reason to report first: of the reasons for which a compiler does not use
// counts, the one with the largest sum. It is [Found] if the compiler uses all counts. [Border] is
// returned only if there is no other reason, whatever its sum.
func (t *Tally) Worst() Reason {
	worst := Found
	for _, r := range Reasons {
		if t.Reasons[r] > 0 && r.lost() && (!worst.lost() || worst == Border || t.Reasons[r] > t.Reasons[worst]) {
			worst = r
		}
	}
	return worst
}

// A Function describes how a compiler used the counts of a function, including the counts of its
// inlined copies.
type Function struct {
	Tally
	Name   string
	Reason Reason // why most of its lost counts are lost; [Found] if none are
	File   string // where it is declared, "" if unknown
	Line   uint32

	// EntryUsed is set if a compiler used the number of times that the function was entered. That
	// changes the code even if all counts are lost.
	EntryUsed bool
}

// Suspect returns the sum of the function's counts that are unreliable: the counts that are lost
// or, if the function was edited, all counts, because lines that do not belong together may match.
func (f *Function) Suspect() uint64 {
	if f.Reason == Edited || f.Reason == Declared {
		return f.Counts
	}
	return f.Counts - f.Found - f.Reasons[Border]
}

// A Unit describes how the compiler used the counts of the functions that one compile contains.
type Unit struct {
	Name     string `json:"unit"`
	Compiler string `json:"compiler,omitempty"`
	Tally
	Reason Reason `json:"reason,omitempty"` // [Unoptimised] or [Unprofiled], else empty
}

// A Report describes how compilers used the counts of a profile, by function and by unit.
type Report struct {
	Tally
	Elsewhere uint64     // for ReportPart: sum of the counts of functions of other units
	Stranger  *Stranger  // set if the profile seems to be of another program, else nil
	Functions []Function // those with most suspect counts first
	Units     []Unit     // in the order in which they were added
}

// An Explainer compares a profile with compiles. It is not safe for concurrent use.
type Explainer struct {
	// Placed, unless nil, reports whether the lines of a function in the profile are known to be
	// right: its file has not changed since, or its counts were moved. symbol is the function's
	// name, and unit its file. Without Placed, an Explainer compares the lines that have code, and
	// may take a function for edited only because another compiler has code at other lines.
	Placed func(unit, symbol string) bool

	profile   *profile.Profile
	functions map[string]profiledFunction // by canonical name
	codes     []*Code
	stranger  *Stranger         // of the latest report
	namesakes map[namesake]bool // of the latest report
}

// New returns an explainer of a profile. The profile must not change any more.
func New(p *profile.Profile) *Explainer {
	return &Explainer{profile: p, functions: profiledFunctions(p)}
}

// A profiledFunction is what the profile has about one function: it combines all symbols with the
// same canonical name, such as f and f.part.0.
type profiledFunction struct {
	file    string          // path of the unit of the last symbol with samples
	entered bool            // a symbol has a head count
	bases   map[string]bool // base names of the files of all symbols
	unknown bool            // the file of a symbol is unknown
}

// profiledFunctions returns what a profile has about each function. The keys are canonical names.
func profiledFunctions(p *profile.Profile) map[string]profiledFunction {
	functions := make(map[string]profiledFunction)
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		name, unit := create.SelectedSuffixes.Name(p.SymbolName(ref)), p.UnitPath(p.SymbolUnit(ref))
		f := functions[name]
		if f.bases == nil {
			f.bases = make(map[string]bool)
		}
		f.bases[filepath.Base(unit)] = true
		f.unknown = f.unknown || unit == ""
		if samples := p.Function(ref); samples != nil {
			f.file, f.entered = unit, f.entered || samples.HeadCount > 0
		}
		functions[name] = f
	}
	return functions
}

// Add adds compiles or binaries to the explainer, in whose code it looks for the counts of the
// profile.
func (e *Explainer) Add(codes ...*Code) { e.codes = append(e.codes, codes...) }

// Report returns a report on the whole profile.
func (e *Explainer) Report() *Report { return e.report(false) }

// ReportPart returns a report on those functions of the profile that the compiles contain. Use it
// if the compiles are only a part of a program. If the profile contains none of their functions,
// the report is about the whole profile.
func (e *Explainer) ReportPart() *Report {
	if r := e.report(true); r.Counts > 0 {
		return r
	}
	return e.report(false)
}

// report returns a report on the profile. If part is true, it leaves out functions of units that
// were not compiled.
func (e *Explainer) report(part bool) *Report {
	profiled := shapesOf(e.profile)
	e.findStranger(profiled)
	e.namesakes = e.findNamesakes()
	all := e.tally(e.codes, profiled, part)
	r := &Report{Tally: all.sum, Elsewhere: all.elsewhere, Stranger: e.stranger}
	for name, t := range all.functions {
		f := Function{Tally: *t, Name: name, Reason: t.Worst()}
		if how := all.changed[name]; how != "" {
			f.Reason = how
		}
		f.File, f.Line = e.declaration(name, e.functions[name].file)
		f.EntryUsed = e.entryUsed(name)
		r.Functions = append(r.Functions, f)
	}
	slices.SortFunc(r.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Suspect(), a.Suspect()), cmp.Compare(b.Counts, a.Counts), strings.Compare(a.Name, b.Name))
	})
	for _, c := range e.codes {
		own := e.tally([]*Code{c}, profiled, true)
		r.Units = append(r.Units, Unit{c.Name, c.Compiler, own.sum, c.fault})
	}
	return r
}

// entryUsed reports whether a compiler has used the number of times that a function was entered. It
// takes this number from the function's head count. Some compilers also take it from the counts of
// inlined bodies, which they add to the function's own counts.
func (e *Explainer) entryUsed(name string) bool {
	return slices.ContainsFunc(e.codes, func(c *Code) bool {
		return (e.functions[name].entered || c.addsBodies) && c.Compiler != "" && c.fault == "" && c.defined[name] && !e.namesakes[namesake{c, name}]
	})
}

// declaration returns the file and the line in which a function of the profile is declared, as
// the explained compiles report them. If none of these compiles declares the function, it
// returns the file that the caller passes as otherwise, and line 0.
func (e *Explainer) declaration(name, otherwise string) (file string, line uint32) {
	for _, c := range e.codes {
		if d, ok := c.declared[name]; ok {
			return d.File, d.Line
		}
	}
	return otherwise, 0
}

// A frame is one function in the chain of inlined calls that leads to a count, with a place in that
// function. The place is that of the next inlined call, or in the last frame that of the count.
type frame struct {
	name  string
	place place
	again bool // the place is of a count, and a later count has the same line
}

// A counting is the state of adding up the counts of a profile by the reason why they were used or
// not.
type counting struct {
	codes     []*Code
	part      bool // leave out functions of units that were not compiled
	sum       Tally
	elsewhere uint64            // sum of the counts that were left out
	functions map[string]*Tally // sums for each function, by name
	changed   map[string]Reason // functions that were edited, see changes
	profiled  map[string]profiledFunction
	namesakes map[namesake]bool
	stranger  bool // the profile is of another program
}

// tally adds up the counts of the profile by the reason why they were used or not. If several
// compiles contain the function of a count, the count gets the best of their reasons. profiled has
// the shapes of the profile's functions. If part is true, tally leaves out functions of units that
// were not compiled.
func (e *Explainer) tally(codes []*Code, profiled map[string]*shape, part bool) *counting {
	t := &counting{
		codes: codes, part: part, functions: make(map[string]*Tally), profiled: e.functions, namesakes: e.namesakes, stranger: e.stranger != nil,
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

// unedited removes the functions from changed whose lines in the profile are known to be right,
// according to [Explainer.Placed].
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

// count adds a count to the tallies of its function and of the whole profile.
func (t *counting) count(frames []frame, n uint64) {
	leaf := frames[len(frames)-1].name
	reason := Nowhere
	for _, c := range t.codes {
		if !t.namesakes[namesake{c, leaf}] {
			reason = better(reason, c.reasonFor(frames))
		}
	}
	if reason == Nowhere && t.part && !t.compiles(t.profiled[frames[0].name].file) {
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

// compiles reports whether path is the path of one of the compiled sources.
func (t *counting) compiles(path string) bool {
	return slices.ContainsFunc(t.codes, func(c *Code) bool { return c.compiles(path) })
}

// eachCount calls do for each record of a profile. The frames say where the record is: the first is
// its function, and each further frame is a body that was inlined in the frame before it. The last
// one contains the record. do must not use the frames after it returns. The names of functions have
// no suffixes, because compilers look for names without suffixes.
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

// repeated returns the counts of records that are repeated: another count in the same line follows,
// in the same function or the same inlined body.
func repeated(records []profile.Record) map[*profile.Record]bool {
	again := make(map[*profile.Record]bool)
	var last []*profile.Record // the latest count of each open body, by depth
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
