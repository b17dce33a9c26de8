// Package pathmatch finds the units of a profile that paths of source files mean.
package pathmatch

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
)

// Find returns, for each of some paths of source files, the paths of the units that fit it best.
// Paths that are not absolute are of the folder dir, which is absolute.
func Find(paths []string, dir string, units iter.Seq[string]) [][]string {
	matchers := make([]*matcher, len(paths))
	byBase := make(map[string][]*matcher)
	for i, name := range paths {
		m := newMatcher(name, filepath.ToSlash(dir))
		matchers[i] = m
		base := path.Base(m.full)
		byBase[base] = append(byBase[base], m)
	}
	for unit := range units {
		for _, m := range byBase[path.Base(unit)] {
			m.offer(unit)
		}
	}
	found := make([][]string, len(paths))
	for i, m := range matchers {
		found[i] = m.units
	}
	return found
}

// A matcher looks for the units of one file.
type matcher struct {
	given string // the path as it was given
	full  string // from the root
	tail  string // from dir, without "../"
	units []string
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
		m.units = nil
	}
	m.best = fit
	m.units = append(m.units, unit)
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
