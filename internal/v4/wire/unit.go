package wire

import (
	"encoding/binary"
	"math"

	"github.com/go-afdo/afdo/internal/decode"
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

// The types of locations (RFC 4.8.2).
const (
	Zero      = 0x01
	Normal    = 0x02
	Wide      = 0x03
	CalledFn  = 0x04
	CalledFns = 0x05
	InlinedFn = 0x06
)

// The bitmask byte of a location, and the limits of the fields after it (RFC 4.8.1).
const (
	DiscriminatorFlag = 0x80
	LocationTypeMask  = 0x7f

	MaxLine          = 1<<24 - 1
	MaxDiscriminator = 1<<16 - 1
)

// The minimum sizes of a location and a call target, in bytes.
const (
	MinLocation, MinCompactLocation = 4, 2
	MinTarget, MinCompactTarget     = 4 + 8, 2
)

// A Location is a location record, without its call targets and nested locations.
type Location struct {
	Type          byte
	Flagged       bool // it has a discriminator, which may be 0
	Line          uint32
	Discriminator uint32
	Count         uint64 // for Zero, Normal and Wide
	Callee        uint32 // for InlinedFn
	NumTargets    uint32 // for CalledFn and CalledFns
	NumLocations  uint32 // for InlinedFn
}

// Known reports whether the RFC defines the type.
func (l *Location) Known() bool { return l.Type-Zero <= InlinedFn-Zero }

// LocationCount decodes the number of locations in a body.
func (f *Fields) LocationCount() uint32 {
	return uint32(f.Count(uint64(f.Uint32()), MinLocation, MinCompactLocation, "locations"))
}

// Location decodes a location up to its targets or nested locations. It skips a location whose type
// the RFC does not define (RFC 4.8.3).
func (f *Fields) Location(l *Location) {
	mask := f.Byte()
	*l = Location{Type: mask & LocationTypeMask, Flagged: mask&DiscriminatorFlag != 0, Line: f.Uint24()}
	if l.Flagged {
		l.Discriminator = uint32(f.Uint16())
	}
	switch l.Type {
	case Zero:
	case Normal:
		l.Count = uint64(f.Uint32())
	case Wide:
		l.Count = f.Uint64()
	case CalledFn:
		l.NumTargets = f.targets(1)
	case CalledFns:
		l.NumTargets = f.targets(f.Uint32())
	case InlinedFn:
		l.Callee = f.Uint32()
		l.NumLocations = f.LocationCount()
	default:
		f.Take(int(min(f.Uint32(), math.MaxInt32)), "an unknown location")
	}
}

func (f *Fields) targets(n uint32) uint32 {
	return uint32(f.Count(uint64(n), MinTarget, MinCompactTarget, "call targets"))
}

// Location encodes a location up to its targets or nested locations. It writes a discriminator
// unless it is 0 (format note 15).
func (e *Encoder) Location(l *Location) {
	if l.Discriminator == 0 {
		e.Byte(l.Type)
		e.Uint24(l.Line)
	} else {
		e.Byte(l.Type | DiscriminatorFlag)
		e.Uint24(l.Line)
		e.Uint16(uint16(l.Discriminator))
	}
	switch l.Type {
	case Normal:
		e.Uint32(uint32(l.Count))
	case Wide:
		e.Uint64(l.Count)
	case CalledFns:
		e.Uint32(l.NumTargets)
	case InlinedFn:
		e.Uint32(l.Callee)
		e.Uint32(l.NumLocations)
	}
}

// CountType returns the type of the smallest location that can hold a count.
func CountType(count uint64) byte {
	switch {
	case count == 0:
		return Zero
	case count <= math.MaxUint32:
		return Normal
	}
	return Wide
}

// Target decodes a call target.
func (f *Fields) Target() (callee uint32, count uint64) { return f.Uint32(), f.Uint64() }

// Target encodes a call target.
func (e *Encoder) Target(callee uint32, count uint64) {
	e.Uint32(callee)
	e.Uint64(count)
}

// Offset converts the number of a line in a profile to its distance from the declaration of its
// function. GCC stores 16 bits, so numbers from 2^15 to 2^16 are lines before the declaration
// (format note 25). No function is long enough to make this ambiguous.
func Offset(line uint32) int32 {
	if line >= 1<<15 && line < 1<<16 {
		return int32(line) - 1<<16
	}
	return int32(line)
}

// Line is the inverse of [Offset].
func Line(offset int32) uint32 {
	if offset < 0 {
		return uint32(offset) & (1<<16 - 1)
	}
	return uint32(offset)
}

// A Fault describes an error in the bytes of a section. It does not implement error: the caller,
// which knows the section, converts it.
type Fault = decode.Fault
