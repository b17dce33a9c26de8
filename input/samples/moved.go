package samples

import (
	"cmp"
	"slices"
	"strings"
)

// Programs can move their own code to memory with huge pages, which no file backs. The memory is
// then where the file's code was. Recordings show it as an anonymous mapping that replaces a
// mapping of the file, or that lies between two mappings of the same file.

// isAnonymous reports whether a mapping with this name has no file on disk: it is anonymous memory,
// or a file of a file system in memory.
func isAnonymous(name string) bool {
	if name == "" || strings.Contains(name, "hugetlbfs") {
		return true
	}
	return slices.ContainsFunc([]string{"//anon", "[anon", "/anon_hugepage", "anon_inode:", "/memfd:", "/dev/zero", "/dev/hugepages/", "/mnt/huge", "[heap]"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// movedCode checks whether the memory from start to end contains code of the binary that a program
// has moved to anonymous memory, for example to huge pages. near and nearOffset are the address and
// the file offset of a mapping of the binary, which show at which address the binary was loaded. If
// the memory is where the binary's code was loaded, movedCode returns the file offset of the byte
// at start.
func (b *Binary) movedCode(start, end, near, nearOffset uint64) (uint64, bool) {
	const smallest, largest = 4 << 10, 64 << 10 // pages
	for _, p := range b.progs {
		if !isLoaded(p) {
			continue
		}
		begins := nearOffset >= p.Off && nearOffset-p.Off < p.Filesz
		for size := uint64(smallest); size <= largest; size *= 2 {
			begins = begins || nearOffset == p.Off&^(size-1)
		}
		if !begins {
			continue
		}
		bias := near - (nearOffset - p.Off + p.Vaddr)
		for _, code := range b.Layout.code {
			if at := code.Address + bias; at < end && start < at+code.Size {
				return code.Offset + start - at, true
			}
		}
	}
	return 0, false
}

// maxParts is the largest number of adjacent anonymous mappings that are taken for the moved code
// of a file.
const maxParts = 16

// adopt handles the anonymous mapping that s.find has just returned. If it lies between two
// mappings of one file, adopt assigns it to this file: the program has moved its code there.
func (m *perfMaps) adopt(s *space) {
	at := &s.maps[s.last]
	below, above := s.last-1, s.last+1
	for below > s.last-maxParts && below >= 0 && s.maps[below].anonymous {
		below--
	}
	for above < s.last+maxParts && above < len(s.maps) && s.maps[above].anonymous {
		above++
	}
	if below < 0 || above >= len(s.maps) {
		return
	}
	a, b := &s.maps[below], &s.maps[above]
	if a.file == nil || a.file != b.file || a.anonymous || b.anonymous {
		return
	}
	if !a.file.Ours {
		at.object, at.anonymous = a.file, false
		return
	}
	binary := m.choice.binary
	first, ok := binary.movedCode(at.start, at.end, a.start, a.start+a.delta)
	second, both := binary.movedCode(at.start, at.end, b.start, b.start+b.delta)
	if ok && both && first == second {
		at.object, at.delta, at.anonymous = a.file, first-at.start, false
	}
}

// replaces reports whether an anonymous mapping takes the place of the mapping old, which contains
// the code of a file. It may extend beyond old, to the end of a huge page.
func (at *mapping) replaces(old *mapping) bool {
	const hugePage = 2 << 20
	return old != nil && !old.anonymous && old.object == old.file && at.start >= old.start && at.end <= (old.end+hugePage-1)&^(hugePage-1)
}

// adopt assigns a segment of anonymous memory to the binary if it lies between two segments of the
// binary, where the binary's code was loaded. It sorts the segments.
func (b *Binary) adopt(segments []*segment) {
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i+1 < len(segments); i++ {
		at, below, above := segments[i], segments[i-1], segments[i+1]
		if at.object.Ours || !isAnonymous(at.object.Name) || !below.object.Ours || !above.object.Ours {
			continue
		}
		first, ok := b.movedCode(at.start, at.limit, below.start, below.offset)
		second, both := b.movedCode(at.start, at.limit, above.start, above.offset)
		if ok && both && first == second {
			at.object, at.offset = below.object, first
			at.object.Samples = 0
		}
	}
}
