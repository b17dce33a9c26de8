package rebase

import (
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/internal/regular"
	"github.com/go-afdo/afdo/profile"
)

// Slice moves a slice of a profile to the files that its compile reads, which are given by their
// paths. The slice has to remember the sources, see [profile.Marks]. p is not changed, and is
// returned itself if nothing else is; the report is nil if no file is another than it was.
//
// A file that is as it was is read and compared by one hash, and functions of files that the
// compile does not read stay as they are. Only if a function is gone from its file are all of the
// compile's files searched for it. One that is not found stays as it is, too: the compile may well
// have it, by way of macros.
func Slice(p *profile.Profile, files []string) (*profile.Profile, *Report, error) {
	if !p.HasMarks() {
		return p, nil, nil
	}
	s := slicing{from: newMemory(p), files: filesByBase(files), differ: make(map[string]bool)}
	if changed := s.compare(p); !changed {
		return p, nil, nil
	}
	uses := usesOf(p)
	plan := makePlan(uses, s.from, &s.new)
	if plan.lost() {
		s.readAll()
		plan = makePlan(uses, s.from, &s.new)
	}
	plan.keepLost()
	report, _ := plan.report(placesOf(p)) // a slice may well lose all it has
	if plan.nothing() {
		return p, report, nil
	}
	q := p.Relocate(plan.relocation)
	q.Summary = p.Summary
	plan.remember(p, q, &s.new)
	return q, report, nil
}

// A slicing is the sources of a slice, old and new.
type slicing struct {
	from   memory
	files  map[string][]string // by base
	new    Sources
	differ map[string]bool // files that were read, and whether they are others than they were
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

// compare compares the file of each unit with what is remembered of it, and forgets the units that
// have not changed or whose file is not known. It reports whether there are others.
func (s *slicing) compare(p *profile.Profile) (changed bool) {
	gone := make(map[string]bool)
	for u := range p.NumUnits() {
		ref := profile.UnitRef(u)
		unit := p.UnitPath(ref)
		if name := s.fileOf(unit); name == "" || !s.differs(name, p.UnitSum(ref)) {
			gone[unit] = true
			continue
		}
		changed = true
	}
	for at := range s.from {
		if gone[at.unit] {
			delete(s.from, at)
		}
	}
	return changed && len(s.from) > 0
}

// fileOf returns the file of a unit, none if several may be it.
func (s *slicing) fileOf(unit string) (name string) {
	most, sure := 0, false
	for _, candidate := range s.files[path.Base(unit)] {
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
func (s *slicing) differs(name string, sum uint32) bool {
	if differs, known := s.differ[name]; known {
		return differs
	}
	text, err := readSource(name)
	differs := err == nil && (sum == 0 || sumOf(text) != sum)
	s.differ[name] = differs
	if differs {
		s.new.AddFile(filepath.ToSlash(name), text)
	}
	return differs
}

// readAll reads the files that were not read yet.
func (s *slicing) readAll() {
	for _, names := range s.files {
		for _, name := range names {
			s.differs(name, 0)
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

// readSource reads a regular file. The text of one that is too large is nil.
func readSource(name string) ([]byte, error) {
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxSource {
		return nil, nil
	}
	return io.ReadAll(f)
}
