package wire

import "encoding/binary"

// The fields of a header that never are varints (RFC 4.1).
const (
	Magic      = "gcov"
	Version    = 4
	FixedWidth = 8 // of magic and version
)

// HeaderPrefix is how many bytes at most hold all fields before the section table, and its first
// entry.
const HeaderPrefix = FixedWidth + 1 + 7*MaxVarintLen

// A Place is where a section lies, as header and section table have it.
type Place struct{ Offset, Size uint64 }

// Place decodes a place.
func (f *Fields) Place() Place { return Place{f.Uint64(), f.Uint64()} }

// Place encodes a place.
func (e *Encoder) Place(p Place) {
	e.Uint64(p.Offset)
	e.Uint64(p.Size)
}

// PlaceSize is the size of a place: exact in normal mode, the least in compact mode.
func PlaceSize(compact bool) int {
	if compact {
		return 2
	}
	return 16
}

// Header returns the fields of a header behind magic and version, at the number of sections, which
// is seven bytes wide in normal mode. The places of summary and file names and then those of the
// other sections follow.
func Header(data []byte) Fields {
	h := Fields{Data: data, Pos: FixedWidth}
	h.Compact = h.Byte()&CompactFlag != 0
	return h
}

// Header encodes what [Header] is about, up to the places.
func (e *Encoder) Header(sections uint64) {
	e.String(Magic)
	e.Data = binary.BigEndian.AppendUint32(e.Data, Version)
	e.Byte(SectionBitmask(0, e.Compact))
	e.Uint(7, sections)
}

// Head encodes header and section table of a file whose sections have these sizes, bitmask bytes
// included, and stand in this order right behind them. summary and names are the indices of two of
// them. Offsets count from the start of the file and, as varints, grow with the header before them:
// it is encoded for a guess of its own length until that holds (format note 3). The guess only ever
// grows, so the loop ends.
func Head(compact bool, sizes []uint64, summary, names int) []byte {
	e := Encoder{Compact: compact}
	for length := -1; length != len(e.Data); {
		length = len(e.Data)
		e.Data = e.Data[:0]
		e.head(sizes, uint64(length), summary, names)
	}
	return e.Data
}

// head encodes what [Head] does, the sections beginning at an offset.
func (e *Encoder) head(sizes []uint64, offset uint64, summary, names int) {
	var first [2]Place
	at := offset
	for i, size := range sizes {
		switch i {
		case summary:
			first[0] = Place{at, size}
		case names:
			first[1] = Place{at, size}
		}
		at += size
	}
	e.Header(uint64(len(sizes) - len(first)))
	e.Place(first[0])
	e.Place(first[1])
	for i, size := range sizes {
		if i != summary && i != names {
			e.Place(Place{offset, size})
		}
		offset += size
	}
}
