package simulate

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
