package slice

import (
	"path"
	"path/filepath"
	"strings"
)

// A Match is what a path of a source file means in a profile.
type Match struct {
	Path string

	// Units are the paths of the units that fit best: one usually, none if the profile knows
	// nothing of the file, several if the choice is ambiguous.
	Units []string
}

// Match finds the units of source files. Paths that are not absolute are of
// the folder dir, which is absolute.
//
// A unit of exactly that path comes first, as it is, cleaned, or joined to dir. Else a file is a
// unit whose path ends in the file's path from dir, less any "../" before it, or one of a relative
// path in which the file's full path ends; either at a '/'. Of several the one that agrees with the
// full path in most elements is meant.
//
// It takes one look at each unit.
func (p *Program) Match(paths []string, dir string) []Match {
	matches := make([]Match, len(paths))
	wanted := make(map[string][]*matcher)
	for i, name := range paths {
		matches[i].Path = name
		m := newMatcher(name, filepath.ToSlash(dir))
		m.match = &matches[i]
		base := path.Base(m.full)
		wanted[base] = append(wanted[base], m)
	}
	for unit := range p.source.numUnits() {
		name := p.source.path(unit)
		for _, m := range wanted[path.Base(name)] {
			m.offer(name)
		}
	}
	return matches
}

// A matcher looks for the units of one file.
type matcher struct {
	given string // the path as it was given
	full  string // from the root
	tail  string // from dir, without "../"
	match *Match
	best  int // how well the units found fit
}

func newMatcher(name, dir string) *matcher {
	m := &matcher{given: name}
	m.full = path.Clean(filepath.ToSlash(name))
	if !isAbs(m.full) {
		m.full = path.Join(dir, m.full)
	}
	m.tail = m.full
	if rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(m.full)); err == nil {
		m.tail = filepath.ToSlash(rel)
	}
	for strings.HasPrefix(m.tail, "../") {
		m.tail = m.tail[len("../"):]
	}
	return m
}

// exactly is better than any number of elements in common.
const exactly = 1 << 30

// offer takes a unit if it fits no worse than those before.
func (m *matcher) offer(unit string) {
	fit := m.fit(unit)
	if fit == 0 || fit < m.best {
		return
	}
	if fit > m.best {
		m.match.Units = nil
	}
	m.best = fit
	m.match.Units = append(m.match.Units, unit)
}

// fit says how well a unit fits, 0 if not at all.
func (m *matcher) fit(unit string) int {
	if unit == m.given {
		return exactly + 1
	}
	clean := path.Clean(unit)
	switch {
	case clean == m.full, clean == path.Clean(m.given):
		return exactly
	case endsIn(clean, m.tail), !isAbs(clean) && endsIn(m.full, clean):
		return commonElements(clean, m.full)
	}
	return 0
}

// isAbs reports whether a path with slashes begins at a root, here or on Windows.
func isAbs(name string) bool { return path.IsAbs(name) || filepath.IsAbs(filepath.FromSlash(name)) }

// endsIn reports whether tail is name, or its last elements.
func endsIn(name, tail string) bool {
	before, ok := strings.CutSuffix(name, tail)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasPrefix(tail, "/"))
}

// commonElements counts the last elements that two paths have in common.
func commonElements(a, b string) int {
	n := 0
	for {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if a[i+1:] != b[j+1:] {
			return n
		}
		n++
		if i < 0 || j < 0 {
			return n
		}
		a, b = a[:i], b[:j]
	}
}
