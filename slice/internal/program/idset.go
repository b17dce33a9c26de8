package program

// An IDSet is a set of symbol IDs. These may lie anywhere in 32 bits, but are usually neighbours,
// so it keeps them as bits, by pages. The zero set is empty.
type IDSet struct {
	pages map[ID]*[pageIDs / 64]uint64
	last  *[pageIDs / 64]uint64 // the page used last
	page  ID                    // its number
}

const pageIDs = 1 << 12

func (s *IDSet) Has(id ID) bool {
	p := s.find(id / pageIDs)
	return p != nil && p[id%pageIDs/64]&(1<<(id%64)) != 0
}

// Add adds an ID and reports whether it is new.
func (s *IDSet) Add(id ID) bool {
	p := s.find(id / pageIDs)
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[ID]*[pageIDs / 64]uint64)
		}
		p = new([pageIDs / 64]uint64)
		s.pages[id/pageIDs] = p
		s.last, s.page = p, id/pageIDs
	}
	word, bit := &p[id%pageIDs/64], uint64(1)<<(id%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

func (s *IDSet) find(page ID) *[pageIDs / 64]uint64 {
	if s.last == nil || s.page != page {
		p := s.pages[page]
		if p == nil {
			return nil
		}
		s.last, s.page = p, page
	}
	return s.last
}
