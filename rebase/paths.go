package rebase

import (
	"path"
	"strings"
)

// A roots is the folders of two paths that end alike.
type roots struct{ old, new string }

// movePaths changes the path of symbols whose function is in another file now. A profile and the
// sources may have different folders around the same files. The files of most functions show which
// folder corresponds to which.
func (p *plan) movePaths() {
	times := make(map[roots]int)
	var usual roots
	for _, c := range p.changes {
		if c.new == nil || c.file == "" {
			continue
		}
		if r, ok := rootsOf(c.file, c.new.file); ok {
			if times[r]++; times[r] > times[usual] {
				usual = r
			}
		}
	}
	for _, c := range p.changes {
		if c.new == nil || c.file == "" || path.Base(c.file) == path.Base(c.new.file) {
			continue
		}
		if rest, ok := strings.CutPrefix(c.new.file, usual.new); ok {
			c.path = usual.old + rest
		}
	}
}

// rootsOf returns the parts of two paths before their common end.
func rootsOf(old, new string) (r roots, ok bool) {
	if path.Base(old) != path.Base(new) {
		return r, false
	}
	for old != "" && new != "" && old[len(old)-1] == new[len(new)-1] {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	if old != "" && new != "" { // the names of the folders may end alike
		oldEnd, newEnd := strings.LastIndexByte(old, '/')+1, strings.LastIndexByte(new, '/')+1
		return roots{old[:oldEnd], new[:newEnd]}, true
	}
	return roots{old, new}, true
}
