package v4

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// This file decodes the header in the dialect of the RFC (RFC 4.1).

// dialectHint is appended to errors about an invalid header.
const dialectHint = " (the file is damaged or cut, or in another dialect of version 4 than the RFC's)"

// readHeader decodes the header up to the section table. size is the file size.
func (t *sectionTable) readHeader(prefix []byte, size int64) error {
	if err := checkVersion(prefix); err != nil {
		return err
	}
	h := headerFields(prefix)
	t.Fields = h
	t.size = size
	n := h.Uint(7)
	for i, typ := range [2]byte{wire.SummaryInfo, wire.FileNames} {
		p := h.Place()
		if h.Err != nil {
			return headerClass(h.Fault())
		}
		if err := t.checkBounds(h.Pos, typ, p); err != nil {
			return err
		}
		t.fixed[i] = fixedEntry{extent: t.newExtent(p), t: typ}
	}
	t.Fields = h
	t.entries = h.Pos
	return headerClass(t.checkCount(n))
}

// checkCount checks the number of entries in the section table against the size of the file.
func (t *sectionTable) checkCount(n uint64) error {
	entrySize := uint64(wire.PlaceSize(t.Compact))
	left := uint64(t.size) - uint64(t.Pos)
	if n > left/entrySize || n > math.MaxInt32 {
		return t.Section.FaultAt(9, fault.ErrHeader, "%d sections in a file of %d bytes%s", n, t.size, dialectHint)
	}
	t.count = int(n)
	return nil
}

// headerFields returns a decoder positioned after magic and version.
func headerFields(data []byte) Fields {
	h := Fields{header, wire.Header(data)}
	h.Section.Compact = h.Compact
	return h
}

// headerClass changes the class of an error in a header field to that of the header.
func headerClass(err error) error {
	if e, ok := err.(*Fault); ok && e.Class != fault.ErrHeader {
		e.Detail = fmt.Sprintf("%v: %s%s", e.Class, e.Detail, dialectHint)
		e.Class = fault.ErrHeader
	}
	return err
}

// likelyEnd returns an upper bound for the end of the table. A compact table ends before the first
// section, which is usually the first entry.
func (t *sectionTable) likelyEnd() uint64 {
	start, n := uint64(t.entries), uint64(t.count)
	if !t.Section.Compact {
		return start + 16*n
	}
	end := min(uint64(t.size), start+2*wire.MaxVarintLen*n)
	for _, f := range t.fixed {
		end = min(end, uint64(f.off))
	}
	if first, size := wire.Varint(t.Data[t.entries:]); n > 0 && size > 0 {
		end = min(end, first)
	}
	return max(end, start)
}

// checkVersion returns an error unless the file has version 4.
func checkVersion(head []byte) error {
	if len(head) < 8 {
		return header.FaultAt(0, fault.ErrMagic, "%d bytes", len(head))
	}
	var version uint32
	switch string(head[:4]) {
	case wire.Magic:
		version = binary.BigEndian.Uint32(head[4:])
	case "adcg":
		version = binary.LittleEndian.Uint32(head[4:])
	case "gcda":
		version = binary.BigEndian.Uint32(head[4:])
	default:
		return header.FaultAt(0, fault.ErrMagic, "the file begins with %q", head[:4])
	}
	if version != wire.Version || string(head[:4]) != wire.Magic {
		return &VersionError{Magic: string(head[:4]), Version: version}
	}
	return nil
}
