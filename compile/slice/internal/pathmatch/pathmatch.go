// Package pathmatch finds the units of a profile for the paths of source files.
package pathmatch

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
)

// Find returns, for each path of a source file, the paths of the units that match it best. A path
// that is not absolute is relative to the folder dir, which must be absolute.
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

// A matcher goes through the units of a profile and collects those whose paths match one source
// file best.
type matcher struct {
	given string // path of the source file as the caller gave it
	full  string // absolute path
	tail  string // path relative to dir, without "../"
	units []string
	best  int // result of fit for the units
}

// newMatcher returns a matcher for a path of a source file, which is relative to dir unless it is
// absolute.
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

// exactly is the result of [matcher.fit] for equal paths. It is larger than any number of common
// elements.
const exactly = 1 << 30

// offer compares the path of a unit with the source file. If the unit matches better than the best
// ones so far, it replaces them. If it matches equally well, it is added to them.
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

// fit compares the path of a unit with the source file. It returns 0 if the unit does not match.
// Otherwise, the better the unit matches, the larger is the result.
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

// endsIn reports whether a path ends with the path tail, at a '/' or as a whole.
func endsIn(name, tail string) bool {
	before, ok := strings.CutSuffix(name, tail)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasPrefix(tail, "/"))
}

// commonElements returns how many elements, such as folders and the file name, two paths have in
// common at their ends: 2 for /a/src/x.c and /b/src/x.c.
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
