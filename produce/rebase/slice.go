package rebase

import (
	"errors"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/profile"
)

// Files are what a compile reads: the sources that the slice of a profile is for.
type Files struct {
	paths  map[string][]string // by base
	differ map[string]bool     // files that were read, and whether they are others than they were
	new    Sources
	asked  bool
	gone   map[symbol]bool // functions of a slice whose names the files do not have

	// Renames returns how the inline namespaces in symbols, such as fmt::v9, are spelled in the
	// text of the compile: pairs of parts of symbols, as they were and as they are. It is the
	// method InlineRenames of a slice.Text, or nil if the text is not known; then the files are
	// searched. All symbols of a library contain its inline namespace, which has another name in
	// the library's next version.
	Renames func(symbols iter.Seq[string]) []string
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
	if from.allSame() && (f.Renames == nil || len(f.Renames(symbolsOf(p))) == 0) {
		return p, nil
	}
	uses := usesOf(p)
	plan := makePlan(uses, from, &f.new)
	if plan.lost() {
		f.readAll()
		plan = makePlan(uses, from, &f.new)
	}
	plan.keepLost()
	if f.Renames != nil {
		plan.renameInlines(f.Renames)
	} else {
		plan.renameInlines(f.new.inlineRenames)
	}
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
	return slices.ContainsFunc(p.changes, func(c *change) bool { return c.outcome == Lost && len(c.lines) > 0 })
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
