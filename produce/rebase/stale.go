package rebase

import (
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// Stale returns how many samples of a slice are of functions that contradict the files, and how
// many were compared. It is for profiles that do not remember their sources. A record contradicts a
// function if the function has no code at its line, or if only another line names the callee. A
// function contradicts its file if most of its records do that can. main are the paths of the
// files that the compile is of. They are searched for functions whose file is unknown.
func (f *Files) Stale(p *profile.Profile, main []string) (stale, compared uint64) {
	uses := usesOf(p)
	texts := textsOf{files: f, main: main, read: make(map[string]bool)}
	evidence := make([]evidence, len(uses))
	for i := range uses {
		spelled := spell(uses[i].symbol)
		evidence[i].sure = uses[i].file != ""
		evidence[i].word = outline.Word(spelled.name)
		evidence[i].lines = texts.onlyOne(uses[i].file, spelled.name)
	}
	for at := range placesOf(p) {
		callee := uint32(0)
		if at.callee != none {
			callee = evidence[at.callee].word
		}
		evidence[at.symbol].add(at, callee)
	}
	agreeing := 0
	for i := range evidence {
		agreeing += evidence[i].agreeing - evidence[i].strange
	}
	for i := range evidence {
		compared = saturating.Add(compared, evidence[i].samples)
		if evidence[i].isStale(agreeing > 0) {
			stale = saturating.Add(stale, evidence[i].samples)
		}
	}
	return stale, compared
}

// textsOf are the texts that functions are looked for in.
type textsOf struct {
	files   *Files
	main    []string
	sources Sources
	read    map[string]bool
}

// onlyOne returns the lines of the only function of a name in the file of a unit, nil if there is
// none or several.
func (t *textsOf) onlyOne(unit, name string) (lines []outline.Line) {
	paths := t.main
	switch {
	case unit != "":
		paths = []string{t.files.of(unit)}
	case name == "main": // of any program
		return nil
	}
	for _, path := range paths {
		path = filepath.ToSlash(path)
		if !t.read[path] {
			t.read[path] = true
			_ = t.sources.ReadFile(path) // a file that cannot be read has no functions
		}
		for _, f := range t.sources.byName[name] {
			switch {
			case f.file != path:
			case f.includes(): // lines of the body are those of other files
				return nil
			case lines != nil:
				return nil
			default:
				lines = f.Lines()
			}
		}
	}
	return lines
}

// includes reports whether the body of a function has an "#include".
func (f *function) includes() bool {
	start, end := f.name.Start, f.outline.End
	return start < end && includeDirective().Match(f.text[start:end])
}

var includeDirective = pattern.Of(`(?m)^[ \t]*#[ \t]*include\b`)

// evidence is what the records of a function say about its text.
type evidence struct {
	word    uint32         // hash of its name
	lines   []outline.Line // nil if the text is not known
	sure    bool           // the function of the text is in the file that the profile names
	samples uint64

	// Records at lines that name the callee, at lines without code, of callees that only other
	// lines name, and of callees that no line names.
	agreeing, gone, elsewhere, strange int
}

// isStale reports whether the text is another state of the function. Where the profile names no
// file, a text that names few of the callees is of another function with the same name. If no
// record of the function has a callee that could show this, the other functions of the compile
// decide: othersAgree reports whether their texts name more callees than not. One record alone may
// be the doing of a macro.
func (e *evidence) isStale(othersAgree bool) bool {
	named := e.agreeing + e.elsewhere
	switch {
	case e.sure:
	case named+e.strange == 0 && !othersAgree, named+e.strange > 0 && e.strange >= named:
		return false
	}
	return e.gone+e.elsewhere > e.agreeing+1
}

// add compares a record with the text. callee is the hash of the name that is called or inlined
// there, or 0.
func (e *evidence) add(at place, callee uint32) {
	if e.lines == nil {
		return
	}
	e.samples = saturating.Add(e.samples, at.count)
	i := lineAt(e.lines, at.line)
	names := func(l outline.Line) bool { return l.Names(callee) }
	switch {
	case i == none:
		e.gone++
	case callee == 0:
	case names(e.lines[i]):
		e.agreeing++
	case slices.ContainsFunc(e.lines, names):
		e.elsewhere++
	default:
		e.strange++
	}
}
