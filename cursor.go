package afdo

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Cursor steps through the location records of a function in pre-order: the records of an inlined
// body follow the record of the inlined function, one level deeper.
//
//	for c := info.Cursor(); c.Next(); {
//		location := c.Location()
//		…
//	}
//	if err := c.Err(); err != nil { … }
//
// Records come as they are in the file; several may be of one place, and add up (format note 13). A
// Cursor uses four bytes a level of nesting, and no recursion. It is not safe for concurrent use.
type Cursor struct {
	f         v4.Fields
	remaining uint32   // records to come at the current level
	stack     []uint32 // the same of the levels above
	depth     int      // of location
	targets   uint32   // of location, to come
	location  Location
	unknown   uint64
}

// Cursor returns a cursor before the first record.
func (i Info) Cursor() *Cursor {
	c := new(Cursor)
	c.Reset(i)
	return c
}

// Reset moves the cursor before the first record of a function. It keeps its memory: a Cursor that
// is reused allocates only for a deeper nesting than before. The zero Cursor may be reset.
func (c *Cursor) Reset(i Info) {
	c.f, c.remaining, c.stack = i.f, i.locations, c.stack[:0]
	c.depth, c.targets, c.unknown = 0, 0, 0
}

// Err returns the error that ended the walk, or nil.
func (c *Cursor) Err() error { return public(c.f.Fault()) }

// Location returns the current record. The next call of Next overwrites it.
func (c *Cursor) Location() *Location { return &c.location }

// Depth returns how many inlined bodies enclose the record.
func (c *Cursor) Depth() int { return c.depth }

// Unknown returns how many records of unknown types were skipped (RFC 4.8.3, format note 16).
func (c *Cursor) Unknown() uint64 { return c.unknown }

// Offset returns the offset in the file of the next record; after an error, that of the section.
func (c *Cursor) Offset() int64 { return c.f.Section.Offset + int64(c.f.Pos) }

// Next moves to the next record. It returns false at the end and at an error, see [Cursor.Err].
func (c *Cursor) Next() bool {
	if c.targets > 0 {
		c.skipTargets()
	}
	for {
		for c.remaining == 0 {
			if len(c.stack) == 0 {
				return false
			}
			c.leave()
		}
		c.remaining--
		c.depth = len(c.stack)
		// One of unknown type is passed over, and an error ends the walk.
		if c.f.Compact && c.readCompact() || !c.f.Compact && c.readNormal() || c.readAny() {
			return true
		}
	}
}

// Targets iterates once over the call targets of the current record, none if it is no call. It
// allocates nothing. An error ends the iteration and the walk, see [Cursor.Err].
func (c *Cursor) Targets() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for c.targets > 0 {
			if t, ok := c.target(); !ok || !yield(t) {
				return
			}
		}
	}
}

// target reads the next call target of the record at hand, which has one.
func (c *Cursor) target() (Target, bool) {
	c.targets--
	t := Target{SymbolID(c.f.Uint32()), c.f.Uint64()}
	if c.f.Err != nil {
		c.stop()
		return Target{}, false
	}
	return t, true
}

// stop ends the walk.
func (c *Cursor) stop() { c.remaining, c.stack, c.targets = 0, c.stack[:0], 0 }

// countSize is the size of the count in a normal-mode record by type, for the types that hold
// nothing else.
var countSize = [8]uint8{LocationNormal: 4, LocationWide: 8}

// isCount reports whether a record of the type holds a count and nothing else.
func (t LocationType) isCount() bool { return t-LocationZero <= LocationWide-LocationZero }

// readNormal is readAny for the records that most are, in normal mode. It returns false for the
// others, and has moved nothing. It branches as little as it can on what a record holds, since no
// processor could guess it.
//
// To take a record apart in one or two words, it may look at bytes behind the section, as long as
// they are in memory, before it knows how long the record is.
func (c *Cursor) readNormal() bool {
	data := c.f.Data
	p := data[c.f.Pos:cap(data)]
	if len(p) < 4+2+8 {
		return false
	}
	head := binary.BigEndian.Uint32(p)
	has := head >> 31 // discriminator
	t := LocationType(head>>24) & wire.LocationTypeMask
	size := 4 + 2*int(has)
	body := binary.BigEndian.Uint64(p[size:])
	l := &c.location
	l.Type, l.Line = t, head&wire.MaxLine
	l.Discriminator = uint32(binary.BigEndian.Uint16(p[4:])) & -has
	left := len(data) - c.f.Pos - size // behind line and discriminator
	switch {
	case t.isCount():
		bytes := uint(countSize[t&7])
		if left < int(bytes) {
			return false
		}
		l.Count = body >> (64 - 8*bytes)
		l.Callee, l.NumTargets, l.NumLocations = 0, 0, 0
		c.f.Pos += size + int(bytes)
		return true
	case t == LocationInlinedFn:
		if left < 8 || body&math.MaxUint32 > uint64(left-8)/wire.MinLocation {
			return false
		}
		l.Count, l.NumTargets = 0, 0
		l.Callee = SymbolID(body >> 32)
		c.enter(uint32(body))
		c.f.Pos += size + 8
		return true
	case t == LocationCalledFn:
		if left < wire.MinTarget {
			return false
		}
		l.Count, l.Callee, l.NumTargets, l.NumLocations = 0, 0, 1, 0
		c.targets = 1
		c.f.Pos += size
		return true
	}
	return false
}

// readCompact is readNormal for compact mode.
func (c *Cursor) readCompact() bool {
	data := c.f.Data
	p := data[c.f.Pos:cap(data)]
	if len(p) < 8 {
		return false
	}
	w := binary.LittleEndian.Uint64(p)
	t := LocationType(w) & wire.LocationTypeMask
	has := uint(w>>4) & 8 // discriminator: the width of an end in ends
	w >>= 8
	// Where the varints of the record end, in bits behind its bitmask.
	ends := endsOf(w)
	line := ends & 0xff
	ends >>= has
	disc, third := ends&0xff, ends>>8&0xff
	if disc > 56 || line > 16 || disc-line > 16 {
		return false
	}
	value := varint28(w & lowBits(third) >> (disc & 63))
	l := &c.location
	size := disc
	left := len(data) - c.f.Pos - 1
	switch {
	case t.isCount():
		counted := -uint32(t >> 1) // all zeros for LocationZero
		length := (third - disc) & counted
		size += length
		if size > 56 || length > 32 || int(size>>3) > left {
			return false
		}
		l.Count, l.Callee, l.NumTargets, l.NumLocations = uint64(value&counted), 0, 0, 0
	case t == LocationInlinedFn:
		size = ends >> 16 & 0xff
		if size > 56 || third-disc > 32 || size-third > 32 {
			return false
		}
		n := varint28(w & lowBits(size) >> (third & 63))
		if left -= int(size >> 3); left < 0 || int(n) > left/wire.MinCompactLocation {
			return false
		}
		l.Count, l.Callee, l.NumTargets = 0, SymbolID(value), 0
		c.enter(n)
	case t == LocationCalledFn:
		if int(size>>3)+wire.MinCompactTarget > left {
			return false
		}
		l.Count, l.Callee, l.NumTargets, l.NumLocations = 0, 0, 1, 0
		c.targets = 1
	default:
		return false
	}
	l.Type = t
	l.Line = varint14(w & lowBits(line))
	l.Discriminator = varint14(w & lowBits(disc) >> (line & 63))
	c.f.Pos += int(size>>3) + 1
	return true
}

// enter opens the body of the inlined function at hand, of n records.
func (c *Cursor) enter(n uint32) {
	c.location.NumLocations = n
	c.stack = append(c.stack, c.remaining)
	c.remaining = n
}

// leave closes the innermost body.
func (c *Cursor) leave() {
	last := len(c.stack) - 1
	c.remaining, c.stack = c.stack[last], c.stack[:last]
}

// readAny reads any record, field by field.
func (c *Cursor) readAny() bool {
	var l wire.Location
	c.f.Location(&l)
	c.location = Location{
		Type: LocationType(l.Type), Line: l.Line, Discriminator: l.Discriminator, Count: l.Count,
		Callee: SymbolID(l.Callee), NumTargets: l.NumTargets,
	}
	if c.f.Err != nil {
		c.stop()
		return false
	}
	c.targets = l.NumTargets
	if l.Type == wire.InlinedFn {
		c.enter(l.NumLocations)
	}
	if !l.Known() {
		c.unknown++
	}
	return l.Known()
}

// skipTargets passes over the call targets that the caller has not read. As varints, their values
// are checked nevertheless: whether a file is malformed must not depend on who reads it.
func (c *Cursor) skipTargets() {
	for c.targets > 0 {
		c.target()
	}
}
