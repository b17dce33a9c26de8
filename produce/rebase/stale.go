package rebase

import (
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// Stale returns how many samples of a slice are in functions that contradict the files of the
// compile, and how many samples were compared. It is for profiles without fingerprints of source
// lines (marks).
//
// A record contradicts a function if the function has no code at the record's line, or if another
// line contains the name of the callee and the record's line does not. A function contradicts its
// file if most of its records that can contradict it do. main are the paths of the main source
// files. They are searched for functions whose file is unknown.
func (f *Files) Stale(p *profile.Profile, main []string) (stale, compared uint64) {
	uses := usesOf(p)
	texts := textsOf{files: f, main: main, read: make(map[string]bool)}
	agreement := make([]agreement, len(uses))
	for i := range uses {
		spelled := spell(uses[i].symbol)
		agreement[i].sure = uses[i].file != ""
		agreement[i].word = outline.Word(spelled.name)
		agreement[i].lines = texts.onlyOne(uses[i].file, spelled.name)
	}
	for at := range placesOf(p) {
		callee := uint32(0)
		if at.callee != none {
			callee = agreement[at.callee].word
		}
		agreement[at.symbol].add(at, callee)
	}
	agreeing := 0
	for i := range agreement {
		agreeing += agreement[i].agreeing - agreement[i].strange
	}
	for i := range agreement {
		compared = saturating.Add(compared, agreement[i].samples)
		if agreement[i].isStale(agreeing > 0) {
			stale = saturating.Add(stale, agreement[i].samples)
		}
	}
	return stale, compared
}

// A textsOf finds functions in the source files of a compile.
type textsOf struct {
	files   *Files
	main    []string
	sources Sources
	read    map[string]bool
}

// onlyOne returns the lines of the function with the given name in the source file of a unit. It
// returns nil if the file has no function of that name, or several.
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

// includes reports whether the body of a function has an "#include" directive.
func (f *function) includes() bool {
	start, end := f.name.Start, f.outline.End
	return start < end && includeDirective().Match(f.text[start:end])
}

var includeDirective = pattern.Of(`(?m)^[ \t]*#[ \t]*include\b`)

// An agreement counts how many records of a function agree with the function's source text, and how
// many contradict it. For example, a record at a line without code contradicts it.
type agreement struct {
	word    uint32         // hash of the function's name
	lines   []outline.Line // nil if the text is not known
	sure    bool           // the profile names the file of the function
	samples uint64

	// Numbers of records by what the text has. agreeing are at lines that contain the callee's
	// name. gone are at lines without code. elsewhere are calls whose callee only other lines
	// contain. strange are calls whose callee no line contains.
	agreeing, gone, elsewhere, strange int
}

// isStale reports whether the source text is another version of the function than the profiled one.
// If the profile does not name the function's file, the text may be that of another function with
// the same name. Such a text contains few names of the called functions, and isStale returns false.
// If no record of the function can show this, othersAgree decides: it reports whether the texts of
// the compile's other functions contain most of the names of their called functions. A single
// contradicting record is not enough, because a macro may cause it.
func (e *agreement) isStale(othersAgree bool) bool {
	named := e.agreeing + e.elsewhere
	switch {
	case e.sure:
	case named+e.strange == 0 && !othersAgree, named+e.strange > 0 && e.strange >= named:
		return false
	}
	return e.gone+e.elsewhere > e.agreeing+1
}

// add compares the record at of a function with the function's source text, and counts whether they
// agree. callee is the hash of the name of the called or inlined function, or 0.
func (e *agreement) add(at place, callee uint32) {
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
