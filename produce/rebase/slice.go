package rebase

import (
	"errors"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/profile"
)

// Files are the source files that a compile reads. They are used to move the slice of a profile for
// this compile.
type Files struct {
	paths  map[string][]string // by base name
	differ map[string]bool     // by path: whether a file that was read differs from the one that was profiled
	new    Sources
	asked  bool
	gone   map[symbol]bool // functions for which Gone was called

	// Renames returns the inline namespaces in symbols, such as fmt::v9, that have another name in
	// the text of the compile. The result alternates old and new parts of symbols. A library's
	// inline namespace is part of all its symbols and changes with its version. Renames is the
	// method InlineRenames of a slice.Text. If it is nil, the text is unknown, and the files are
	// searched.
	Renames func(symbols iter.Seq[string]) []string
}

// NewFiles returns Files with the given paths. It does not read them.
func NewFiles(paths []string) *Files {
	return &Files{paths: filesByBase(paths), differ: make(map[string]bool), gone: make(map[symbol]bool)}
}

// Differs reports whether the source file of a unit has changed since the recording: f contains the
// file, the file can be read, and its hash is not sum, which the profile stores. Package slice
// calls Differs through a Request.
func (f *Files) Differs(unit string, sum uint32) bool {
	name := f.of(unit)
	if name == "" {
		return false
	}
	f.asked = true
	return f.differs(name, sum)
}

// Same reports whether the source file of a unit is among the files and unchanged: its hash is sum,
// which the profile stores, or it cannot be read.
func (f *Files) Same(unit string, sum uint32) bool {
	name := f.of(unit)
	return name != "" && !f.differs(name, sum)
}

// Gone notes that the files of the compile do not define a function under the name that it has in
// the profile. The slice contains the function only because it may have been renamed. Package slice
// calls Gone through a Request.
func (f *Files) Gone(unit, name string) { f.gone[symbol{unit, name}] = true }

// Asked reports whether Differs was called for the unit of one of the files. If so, the slice
// depends on the contents of the files.
func (f *Files) Asked() bool { return f.asked }

// Slice moves a slice of a profile to the files that its compile reads. It does not change p, and
// returns p itself if nothing moves. The report is nil if no file whose line fingerprints (marks)
// the profile contains has changed, and no inline namespace has another name.
//
// Functions in files that the compile does not read stay as they are. If a function is no longer in
// its file, Slice searches all files of the compile for it. A function that it does not find stays
// as it is, too, because the compile may define it through macros. Only functions for which
// [Files.Gone] was called are then dropped.
func (f *Files) Slice(p *profile.Profile) (*profile.Profile, *Report) {
	from := readMarks(p, func(unit string, sum uint32) bool { return !f.Differs(unit, sum) })
	uses := unusedOf(p)
	var renames []string
	if f.Renames != nil {
		renames = f.Renames(symbolsOf(uses))
	}
	if from.allSame() && len(renames) == 0 {
		return p, nil
	}
	gather(uses, placesOf(p))
	plan := makePlan(uses, from, &f.new)
	if plan.lost() {
		f.readAll()
		plan = makePlan(uses, from, &f.new)
	}
	plan.keepLost()
	if f.Renames == nil {
		renames = f.new.inlineRenames(symbolsOf(uses))
	}
	plan.renameInlines(renames)
	report, _ := plan.report(placesOf(p)) // a slice may well have nothing that is found
	q := f.withoutGone(plan.apply(p))
	q.Summary = summary.OfSlice(p.Summary, q.NumFunctions())
	return q, report
}

// withoutGone returns p without the functions for which Gone was called, if they still have their
// old name. Inlined bodies of these functions in other functions stay.
func (f *Files) withoutGone(p *profile.Profile) *profile.Profile {
	if len(f.gone) == 0 {
		return p
	}
	q, _ := p.KeepFunctions(func(s profile.SymbolRef) bool {
		return !f.gone[symbol{p.UnitPath(p.SymbolUnit(s)), p.SymbolName(s)}]
	})
	return q
}

// filesByBase returns the absolute paths of files by base name.
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

// of returns the path of the source file for a unit of the profile. It compares the ends of paths,
// and returns "" if no file or several files match the unit equally well.
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

// differs reads the file name and reports whether its hash is not sum, which the profile stores.
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

// readAll adds all files that were not read yet to the new sources.
func (f *Files) readAll() {
	for _, names := range f.paths {
		for _, name := range names {
			f.differs(name, 0)
		}
	}
}

// lost reports whether a function with samples was not found in the new sources.
func (p *plan) lost() bool {
	return slices.ContainsFunc(p.changes, func(c *change) bool { return c.outcome == Lost && len(c.lines) > 0 })
}

// keepLost leaves the records of functions that were not found in the new sources as they are.
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

// commonEnd returns the number of equal components at the ends of two paths.
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
