package simulate

import "encoding/binary"

const (
	pageSize = 4096

	// maxPages bounds the memory of a simulation: a burst of some hundred instructions needs a
	// few dozen pages.
	maxPages = 512
)

// A Memory holds copies of the pages that a simulation has touched.
type Memory struct {
	// Read copies memory of the process, and returns the number of bytes copied.
	Read func(address uint64, to []byte) int

	pages  map[uint64]*page
	unused []*page
	last   *page // the page of the last access
}

type page struct {
	address uint64
	size    int // bytes that could be read
	bytes   [pageSize]byte
}

// Reset forgets all pages.
func (m *Memory) Reset() {
	for _, p := range m.pages {
		m.unused = append(m.unused, p)
	}
	clear(m.pages)
	m.last = nil
}

// at returns the copy of the memory from an address to the end of its page, nil if there is none.
func (m *Memory) at(address uint64) []byte {
	start := address &^ (pageSize - 1)
	p := m.last
	if p == nil || p.address != start {
		if p = m.pages[start]; p == nil {
			p = m.fetch(start)
		}
		if p == nil {
			return nil
		}
		m.last = p
	}
	return p.bytes[min(int(address-start), p.size):p.size]
}

// fetch copies a page.
func (m *Memory) fetch(start uint64) *page {
	if len(m.pages) >= maxPages {
		return nil
	}
	var p *page
	if n := len(m.unused); n > 0 {
		p, m.unused = m.unused[n-1], m.unused[:n-1]
	} else {
		p = new(page)
	}
	p.address, p.size = start, m.Read(start, p.bytes[:])
	if m.pages == nil {
		m.pages = make(map[uint64]*page)
	}
	m.pages[start] = p
	return p
}

// Bytes copies memory as the simulation sees it, and returns the number of bytes copied.
func (m *Memory) Bytes(address uint64, to []byte) (n int) {
	for n < len(to) {
		from := m.at(address + uint64(n))
		if len(from) == 0 {
			break
		}
		n += copy(to[n:], from)
	}
	return n
}

// write changes the copy of the memory.
func (m *Memory) write(address uint64, from []byte) bool {
	for len(from) > 0 {
		to := m.at(address)
		if len(to) == 0 {
			return false
		}
		n := copy(to, from)
		from, address = from[n:], address+uint64(n)
	}
	return true
}

func (m *Memory) load(address uint64, size int) (uint64, bool) {
	if b := m.at(address); len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & mask(size), true
	}
	var word [8]byte
	n := m.Bytes(address, word[:size])
	return binary.LittleEndian.Uint64(word[:]), n == size
}

func (m *Memory) store(address uint64, size int, v uint64) bool {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	return m.write(address, word[:size])
}
