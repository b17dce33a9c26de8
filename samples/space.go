package samples

import (
	"slices"
	"sort"
)

// A mapping is a stretch of a process's addresses.
type mapping struct {
	start, end uint64 // end is the first address behind it
	delta      uint64 // what makes a file offset of an address; of the kernel, an address of the linker
	object     *object
}

// A space is what a process has mapped: mappings that do not overlap, in ascending order.
type space struct {
	maps   []mapping
	last   int  // index of the one that was found last
	shared bool // by parent and child: to be copied before it is changed
}

// find returns the mapping of an address, nil if there is none.
func (s *space) find(address uint64) *mapping {
	if s.last < len(s.maps) {
		if m := &s.maps[s.last]; address >= m.start && address < m.end {
			return m
		}
	}
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > address })
	if i == len(s.maps) || s.maps[i].start > address {
		return nil
	}
	s.last = i
	return &s.maps[i]
}

// insert adds a mapping, which replaces earlier mappings of the same addresses.
func (s *space) insert(m mapping) {
	first := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > m.start })
	after := first
	for after < len(s.maps) && s.maps[after].start < m.end {
		after++
	}
	var with [3]mapping
	parts := with[:0]
	if first < after && s.maps[first].start < m.start {
		left := s.maps[first]
		left.end = m.start
		parts = append(parts, left)
	}
	parts = append(parts, m)
	if first < after && s.maps[after-1].end > m.end {
		right := s.maps[after-1]
		right.start = m.end
		parts = append(parts, right)
	}
	s.maps = slices.Replace(s.maps, first, after, parts...)
}
