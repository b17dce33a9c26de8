package gen

import "github.com/go-afdo/afdo/internal/testkit/naive"

// A Handmade builds a file section by section: a summary, a file names section, and any sections
// that are added.
type Handmade struct {
	*Layout
	units   Enc
	entries uint32
}

// NewHandmade returns a file without units.
func NewHandmade(compact bool) *Handmade {
	h := &Handmade{Layout: Lay(&naive.File{}, compact)}
	h.units.Compact = compact
	return h
}

// Section adds a section and returns its index.
func (h *Handmade) Section(typ uint8, fill func(e *Enc)) uint32 {
	e := &Enc{Compact: h.Compact}
	fill(e)
	return uint32(h.Add(Section{Type: typ, Compact: h.Compact, Data: e.Buf}))
}

// Unit adds an entry to the file names section.
func (h *Handmade) Unit(path string, strings, symbols, start, end uint32) {
	h.entries++
	h.units.U32(uint32(len(path)) + 1)
	h.units.String(path)
	h.units.U8(0)
	for _, v := range []uint32{strings, symbols, start, end} {
		h.units.U32(v)
	}
}

// Bytes returns the file.
func (h *Handmade) Bytes() []byte {
	e := &Enc{Compact: h.Compact}
	e.U32(h.entries)
	e.Bytes(h.units.Buf)
	h.Sections[h.FileNames].Data = e.Buf
	return h.Layout.Bytes()
}

// OneString returns the data of a string table with one string.
func OneString(s string) func(e *Enc) {
	return func(e *Enc) {
		e.U32(1)
		if s != "" {
			e.U8(1)
			e.U16(uint16(len(s)))
			e.String(s)
		}
		e.U8(0x80)
		e.U32(0)
	}
}

// NoRows returns the data of symbol names without symbols.
func NoRows(e *Enc) { e.U32(0) }

// ManyCounts returns the data of a symbol info with n records.
func ManyCounts(n uint32) func(e *Enc) {
	return func(e *Enc) {
		e.U64(1)
		e.U64(0)
		e.U32(n)
		for range n {
			e.U8(naive.Zero)
			e.U24(1)
		}
	}
}
