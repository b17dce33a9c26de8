package wire

import (
	"encoding/binary"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Unit is an entry of a file names section (RFC 4.5) without its path.
type Unit struct {
	Strings, Symbols uint32 // section indexes
	Start, End       uint32 // range of symbol IDs
}

// Has reports whether a symbol ID is in the unit's range.
func (u *Unit) Has(id uint32) bool { return u.Start <= id && id < u.End }

// UnitCount decodes the number of units.
func (f *Fields) UnitCount() int { return f.Count(uint64(f.Uint32()), 4+1+16, 1+1+4, "units") }

// Unit decodes an entry. It returns the position of the path and the path, including the
// terminating NUL (format note 8).
func (f *Fields) Unit(u *Unit) (pos int, path []byte) {
	n := f.Uint32()
	pos = f.Pos
	path = f.Take(int(min(n, math.MaxInt32)), "a file name")
	u.Strings, u.Symbols = f.Uint32(), f.Uint32()
	u.Start, u.End = f.Uint32(), f.Uint32()
	return pos, path
}

// Unit encodes an entry. path does not include the NUL.
func (e *Encoder) Unit(path string, u *Unit) {
	e.Uint32(uint32(len(path) + 1))
	e.String(path)
	e.Byte(0)
	e.Uint32(u.Strings)
	e.Uint32(u.Symbols)
	e.Uint32(u.Start)
	e.Uint32(u.End)
}

// NoInfo replaces the section index for a symbol without samples (RFC 4.6).
const NoInfo = 0xFFFFFFFF

// A Row is a row of a symbol names section (RFC 4.6). It takes 12 bytes.
type Row struct {
	String uint32 // index in the unit's string table
	ID     uint32
	Info   uint32 // section index, or NoInfo
}

// RowCount decodes the number of rows.
func (f *Fields) RowCount() int { return f.Count(uint64(f.Uint32()), 12, 3, "symbols") }

// Row decodes a row.
func (f *Fields) Row() Row {
	if f.Compact {
		if r, ok := f.compactRow(); ok {
			return r
		}
	} else if f.Rest() >= 12 {
		p := f.Data[f.Pos : f.Pos+12]
		f.Pos += 12
		return Row{binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:]), binary.BigEndian.Uint32(p[8:])}
	}
	return Row{f.Uint32(), f.Uint32(), f.Uint32()}
}

// SkipRows skips n rows.
func (f *Fields) SkipRows(n int) {
	size := 12 * n
	if f.Compact {
		size = SkipVarints(f.Data[f.Pos:], 3*uint64(n))
	}
	if size < 0 || size > f.Rest() {
		f.Fail(f.Pos, fault.ErrTruncated, "%d symbols, %d bytes left", n, f.Rest())
		return
	}
	f.Pos += size
}

// compactRow decodes a row whose varints have at most five bytes and that is not near the end of
// the data. For other rows it returns false and does not move.
func (f *Fields) compactRow() (r Row, ok bool) {
	p := f.Data[f.Pos:]
	if len(p) < 5+5+8 {
		return r, false
	}
	a, n := shortVarint(p)
	b, m := shortVarint(p[n:])
	c, k := shortVarint(p[n+m:])
	if n == 0 || m == 0 || k == 0 {
		return r, false
	}
	f.Pos += n + m + k
	return Row{a, b, c}, true
}

// Row encodes a row.
func (e *Encoder) Row(r Row) {
	e.Uint32(r.String)
	e.Uint32(r.ID)
	e.Uint32(r.Info)
}

// An Info holds the first fields of a symbol info section (RFC 4.7).
type Info struct {
	HeadCount, Timestamp uint64
	NumLocations         uint32
}

// Info decodes the fields before the locations.
func (f *Fields) Info() Info {
	return Info{f.Uint64(), f.Uint64(), f.LocationCount()}
}

// Info encodes the fields before the number of locations, which [Encoder.Uint32] encodes.
func (e *Encoder) Info(headCount, timestamp uint64) {
	e.Uint64(headCount)
	e.Uint64(timestamp)
}
