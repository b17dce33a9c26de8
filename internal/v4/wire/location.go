package wire

import (
	"math"
)

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
