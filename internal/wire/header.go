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
