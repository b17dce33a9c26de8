package rebase

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// Files are what a compile reads: the sources that the slice of a profile is for.
type Files struct {
	paths  map[string][]string // by base
	differ map[string]bool     // files that were read, and whether they are others than they were
	new    Sources
	asked  bool
	gone   map[symbol]bool // functions of a slice whose names the files do not have

	// Text is the text of the compile, if known. If it is nil, the files themselves are searched.
	Text Namespaces
}

// NewFiles returns the files of some paths. None is read yet.
func NewFiles(paths []string) *Files {
	return &Files{paths: filesByBase(paths), differ: make(map[string]bool), gone: make(map[symbol]bool)}
}

// Differs reports whether the file of a unit is known, can be read, and is another than the one of
// which the profile remembers a sum. It is what a slice.Request asks for.
func (f *Files) Differs(unit string, sum uint32) bool {
	name := f.of(unit)
	if name == "" {
		return false
	}
	f.asked = true
	return f.differs(name, sum)
}

// Same reports whether the file of a unit is known and still has the sum that the profile contains,
// or cannot be read.
func (f *Files) Same(unit string, sum uint32) bool {
	name := f.of(unit)
	return name != "" && !f.differs(name, sum)
}

// Gone takes note of a function that a slice has only to be found under another name. It is what
// a slice.Request calls.
func (f *Files) Gone(unit, name string) { f.gone[symbol{unit, name}] = true }

// Asked reports whether Differs was ever asked for one of the files: what comes of a slice depends
// on them.
func (f *Files) Asked() bool { return f.asked }

// Slice moves a slice of a profile to the files that its compile reads. p does not change, and is
// returned itself if the result is equal. The report is nil if the profile has no marks of files
// that differ, and the text has all its namespaces.
//
// Functions of files that the compile does not read stay as they are. Only if a function is gone
// from its file are all files of the compile searched for it. A function that is not found stays as
// it is, too, because the compile may define it through macros. Only the functions of [Files.Gone]
// are left out.
func (f *Files) Slice(p *profile.Profile) (*profile.Profile, *Report) {
	from := newMemory(p, func(unit string, sum uint32) bool { return !f.Differs(unit, sum) })
	if from.allSame() && (f.Text == nil || !renamesInlines(p, f.Text)) {
		return p, nil
	}
	uses := usesOf(p)
	plan := makePlan(uses, from, &f.new)
	if plan.lost() {
		f.readAll()
		plan = makePlan(uses, from, &f.new)
	}
	plan.keepLost()
	plan.renameInlines(f.namespaces())
	report, _ := plan.report(placesOf(p)) // a slice may well have nothing that is found
	q := p
	if !plan.nothing() || p.Evidence() != nil {
		q = p.Relocate(plan.relocation)
		plan.remember(p, q, &f.new)
		plan.moveEvidence(p, q)
	}
	q = f.withoutGone(q)
	q.Summary = p.Summary
	return q, report
}

func (f *Files) namespaces() Namespaces {
	if f.Text == nil {
		return &f.new
	}
	return f.Text
}

// withoutGone leaves functions out that are gone and were not found. What is inlined of them stays.
func (f *Files) withoutGone(p *profile.Profile) *profile.Profile {
	if len(f.gone) == 0 {
		return p
	}
	q, _ := p.KeepFunctions(func(s profile.SymbolRef) bool {
		return !f.gone[symbol{p.UnitPath(p.SymbolUnit(s)), p.SymbolName(s)}]
	})
	return q
}

func filesByBase(files []string) map[string][]string {
	byBase := make(map[string][]string, len(files))
	for _, name := range files {
		if whole, err := filepath.Abs(name); err == nil {
			name = whole
		}
		if base := filepath.Base(name); !slices.Contains(byBase[base], name) {
			byBase[base] = append(byBase[base], name)
		}
	}
	return byBase
}

// of returns the file of a unit, none if several may be it.
func (f *Files) of(unit string) (name string) {
	most, sure := 0, false
	for _, candidate := range f.paths[path.Base(unit)] {
		switch n := commonEnd(path.Clean(unit), filepath.ToSlash(candidate), "/"); {
		case n > most:
			name, most, sure = candidate, n, true
		case n == most:
			sure = false
		}
	}
	if !sure {
		return ""
	}
	return name
}

// differs reads a file and reports whether it is another one than it was.
func (f *Files) differs(name string, sum uint32) bool {
	if differs, known := f.differ[name]; known {
		return differs
	}
	text, err := readSource(name)
	differs := err == nil && (sum == 0 || sumOf(text) != sum)
	f.differ[name] = differs
	if differs {
		f.new.AddFile(filepath.ToSlash(name), text)
	}
	return differs
}

// readAll reads the files that were not read yet.
func (f *Files) readAll() {
	for _, names := range f.paths {
		for _, name := range names {
			f.differs(name, 0)
		}
	}
}

// lost reports whether a function that has samples is gone.
func (p *plan) lost() bool {
	for _, c := range p.changes {
		if c.outcome == Lost && len(c.lines) > 0 {
			return true
		}
	}
	return false
}

// keepLost leaves functions that are gone as they are.
func (p *plan) keepLost() {
	for _, c := range p.changes {
		if c.outcome == Lost {
			c.outcome, c.same = Unknown, true
		}
	}
}

// readSource reads a regular file. The text of a file above maxSource is nil.
func readSource(name string) ([]byte, error) {
	text, err := files.ReadFile(name, maxSource)
	if errors.Is(err, files.ErrTooLarge) {
		return nil, nil
	}
	return text, err
}

// commonEnd returns how many parts at the ends of two paths are the same.
func commonEnd(a, b, separator string) (n int) {
	for a != "" && b != "" {
		i, j := strings.LastIndex(a, separator), strings.LastIndex(b, separator)
		lastA, lastB := a[max(i, 0):], b[max(j, 0):]
		if strings.TrimPrefix(lastA, separator) != strings.TrimPrefix(lastB, separator) {
			return n
		}
		n++
		a, b = a[:max(i, 0)], b[:max(j, 0)]
	}
	return n
}

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
