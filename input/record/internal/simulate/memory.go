package simulate

import (
	"bytes"
	"encoding/binary"
)

// PageSize is the unit in which a [Memory] copies. Pages of the processor have this size or a
// multiple of it.
const PageSize = 4096

// lineSize is the unit in which the caches of a processor copy memory. A page has 64 lines.
const lineSize = PageSize / 64

// maxPages limits the number of pages in a Memory. Most bursts need a few dozen.
const maxPages = 512

// A Memory holds copies of the pages that a simulation has touched.
type Memory struct {
	// Read copies the memory of the process at an address to a buffer, and returns the number of
	// bytes copied. It ends at the first byte that cannot be read.
	Read func(address uint64, to []byte) int

	// Constant returns the page of the process at an address if its content does not change while
	// the process runs, and nil otherwise.
	Constant func(address uint64) *Page

	// Misses is the number of accesses that a cache probably has to fetch from memory: neither the
	// accessed line nor a line next to it was accessed before.
	Misses int

	// Copied is the number of bytes that memcpy, memmove, mempcpy or memset has handled, set by
	// [Memory.Call]. Calls of other functions do not change it.
	Copied int

	pages  map[uint64]*page
	unused []*page
	recent [16]*page // the pages of the last accesses, by the last digit of their number

	unknown map[uint64]bool // words of wordSize whose content the simulation does not know, by number
}

const wordSize = 4

// IsUnknown reports whether the simulation has stored a value that it could not compute in any of
// the size bytes at an address.
func (m *Memory) IsUnknown(address uint64, size int) bool {
	if len(m.unknown) == 0 || size == 0 {
		return false
	}
	for w := address / wordSize; w <= (address+uint64(size)-1)/wordSize; w++ {
		if m.unknown[w] {
			return true
		}
	}
	return false
}

// SetUnknown records that the simulation has stored a value in the size bytes at an address.
// unknown is set if the simulation could not compute this value.
func (m *Memory) SetUnknown(address uint64, size int, unknown bool) {
	switch {
	case unknown:
		if m.unknown == nil {
			m.unknown = make(map[uint64]bool)
		}
		for w := address / wordSize; w <= (address+uint64(size)-1)/wordSize; w++ {
			m.unknown[w] = true
		}
	case len(m.unknown) > 0:
		for w := (address + wordSize - 1) / wordSize; w < (address+uint64(size))/wordSize; w++ {
			delete(m.unknown, w)
		}
	}
}

type page struct {
	address  uint64
	constant *Page // the page that has the bytes, nil if they are a copy
	bytes    []byte
	lines    uint64 // those that were accessed, a bit for each
}

// Reset drops the copies of all pages. It has to be called before the first use of a Memory.
func (m *Memory) Reset() {
	if m.pages == nil {
		m.pages = make(map[uint64]*page)
	}
	for _, p := range m.pages {
		if p.constant == nil {
			m.unused = append(m.unused, p)
		}
	}
	clear(m.pages)
	clear(m.recent[:])
	clear(m.unknown)
}

// page returns the copy of the page that contains an address, nil if the page cannot be read.
func (m *Memory) page(address uint64) *page {
	start := address &^ (PageSize - 1)
	recent := &m.recent[start/PageSize%uint64(len(m.recent))]
	if p := *recent; p != nil && p.address == start {
		return p
	}
	p := m.pages[start]
	if p == nil {
		p = m.fetch(start)
	}
	*recent = p
	return p
}

// At returns the copy of the memory from an address to the end of its page. It returns nil if the
// page cannot be read.
func (m *Memory) At(address uint64) []byte {
	p := m.page(address)
	if p == nil {
		return nil
	}
	line := address % PageSize / lineSize
	if (p.lines<<1|p.lines|p.lines>>1)>>line&1 == 0 {
		m.Misses++
	}
	p.lines |= 1 << line
	return p.bytes[min(int(address&(PageSize-1)), len(p.bytes)):]
}

// Unchanging returns the page at an address, nil if its content can change or cannot be read.
func (m *Memory) Unchanging(address uint64) *Page {
	if p := m.page(address); p != nil {
		return p.constant
	}
	return nil
}

// HasZeros reports whether the page at an address contains only zeros, as a page does that the
// kernel has just created.
func (m *Memory) HasZeros(address uint64) bool {
	p := m.page(address)
	return p != nil && bytes.Equal(p.bytes, zeros[:len(p.bytes)])
}

var zeros [PageSize]byte

// fetch copies the page that begins at an address from the process.
func (m *Memory) fetch(start uint64) *page {
	if len(m.pages) >= maxPages {
		return nil
	}
	if c := m.Constant(start); c != nil {
		p := &page{address: start, constant: c, bytes: c.bytes[:c.size]}
		m.pages[start] = p
		return p
	}
	p := m.newPage(start)
	p.bytes = p.bytes[:m.Read(start, p.bytes)]
	m.pages[start] = p
	return p
}

// newPage returns an empty page for a copy of the memory at an address.
func (m *Memory) newPage(start uint64) *page {
	p := &page{bytes: make([]byte, PageSize)}
	if n := len(m.unused); n > 0 {
		p, m.unused = m.unused[n-1], m.unused[:n-1]
	}
	p.address, p.bytes, p.lines = start, p.bytes[:PageSize], 0
	return p
}

// Used appends to to the addresses of the pages that the simulation has copied from the process.
func (m *Memory) Used(to []uint64) []uint64 {
	for a, p := range m.pages {
		if p.constant == nil {
			to = append(to, a)
		}
	}
	return to
}

// Bytes copies memory at an address to to, with the changes that the simulation has made. It
// returns the number of bytes copied, which is less than len(to) if memory cannot be read.
func (m *Memory) Bytes(address uint64, to []byte) (n int) {
	for n < len(to) {
		from := m.At(address + uint64(n))
		if len(from) == 0 {
			break
		}
		n += copy(to[n:], from)
	}
	return n
}

// Write changes the copy of the memory at an address. It returns false if the memory cannot be
// read, or if its content never changes.
func (m *Memory) Write(address uint64, from []byte) bool {
	for len(from) > 0 {
		to := m.At(address)
		if len(to) == 0 || m.page(address).constant != nil {
			return false
		}
		n := copy(to, from)
		from, address = from[n:], address+uint64(n)
	}
	return true
}

// Load reads a number of size bytes, at most 8, from the simulated memory at an address. It returns
// false if the memory cannot be read.
func (m *Memory) Load(address uint64, size int) (uint64, bool) {
	if b := m.At(address); len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & (^uint64(0) >> (64 - 8*size)), true
	}
	var word [8]byte
	n := m.Bytes(address, word[:size])
	return binary.LittleEndian.Uint64(word[:]), n == size
}

// Store writes the number v of size bytes, at most 8, to the simulated memory at an address. It
// returns false if the memory cannot be read, or if its content never changes.
func (m *Memory) Store(address uint64, size int, v uint64) bool {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	return m.Write(address, word[:size])
}

// A Page is a page of memory that does not change, such as code and constants. Several simulations
// can use it, one after another.
type Page struct {
	size  int
	bytes [PageSize]byte
	index *[PageSize]uint16 // of the instruction at an offset in list, plus 1; nil if the page has no instructions
	list  []any
}

// NewPage returns a page with the given content. If content is shorter than a page, the bytes after
// it cannot be read.
func NewPage(content []byte) *Page {
	p := new(Page)
	p.size = copy(p.bytes[:], content)
	return p
}

// Holds reports whether the page has the given content.
func (p *Page) Holds(content []byte) bool { return string(p.bytes[:p.size]) == string(content) }

// After returns the number of bytes from an address to the end of the page, 0 for a nil page.
func (p *Page) After(address uint64) int {
	if p == nil {
		return 0
	}
	return p.size - int(address&(PageSize-1))
}

// Instruction returns the decoded instruction that Keep has stored for an address. It returns nil
// if there is none, or if the page is nil.
func (p *Page) Instruction(address uint64) any {
	if p == nil || p.index == nil {
		return nil
	}
	if i := p.index[address&(PageSize-1)]; i != 0 {
		return p.list[i-1]
	}
	return nil
}

// Keep stores the decoded instruction at an address, so that other simulations need not decode it
// again.
func (p *Page) Keep(address uint64, instruction any) {
	if p.index == nil {
		p.index = new([PageSize]uint16)
	}
	p.list = append(p.list, instruction)
	p.index[address&(PageSize-1)] = uint16(len(p.list))
}
