package wire

import "math"

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
