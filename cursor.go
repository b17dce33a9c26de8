package afdo

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Cursor walks the location records of a function in pre-order: the records of an inlined body
// follow the record of the inlined function, one level deeper.
//
//	for c := info.Cursor(); c.Next(); {
//		location := c.Location()
//		…
//	}
//	if err := c.Err(); err != nil { … }
//
// Records come in file order. Several records may describe the same place; their counts add up
// (format note 13). A Cursor takes four bytes per level of nesting and does not recurse. It is not
// safe for concurrent use.
type Cursor struct {
	f         v4.Fields
	remaining uint32   // records left at the current level
	stack     []uint32 // records left at each enclosing level
	depth     int      // depth of location
	targets   uint32   // call targets of location that have not been read
	location  Location
	unknown   uint64
}

// Cursor returns a cursor positioned before the first record.
func (i Info) Cursor() *Cursor {
	c := new(Cursor)
	c.Reset(i)
	return c
}

// Reset positions the cursor before the first record of i. It reuses the cursor's memory, so it
// allocates only if i nests deeper than any function before it. The zero Cursor may be reset.
func (c *Cursor) Reset(i Info) {
	c.f, c.remaining, c.stack = i.f, i.locations, c.stack[:0]
	c.depth, c.targets, c.unknown = 0, 0, 0
}

// Err returns the error that ended the walk, or nil.
func (c *Cursor) Err() error { return c.f.Fault() }

// Location returns the current record. The next call to Next overwrites it.
func (c *Cursor) Location() *Location { return &c.location }

// Depth returns the number of inlined bodies that enclose the current record.
func (c *Cursor) Depth() int { return c.depth }

// Unknown returns the number of records skipped because their type is unknown (RFC 4.8.3, format
// note 16).
func (c *Cursor) Unknown() uint64 { return c.unknown }

// Offset returns the file offset of the next unread call target or record. After an error, it
// returns the offset of the section.
func (c *Cursor) Offset() int64 { return c.f.Section.Offset + int64(c.f.Pos) }

// Next moves to the next record. It returns false at the end and after an error, see [Cursor.Err].
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
		// A record of an unknown type is skipped. An error ends the walk.
		if c.f.Compact && c.readCompact() || !c.f.Compact && c.readNormal() || c.readAny() {
			return true
		}
	}
}

// Targets iterates over the call targets of the current record that have not been read. A record
// that is not a call has none. Targets allocates nothing. An error ends the iteration and the walk,
// see [Cursor.Err].
func (c *Cursor) Targets() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for c.targets > 0 {
			if t, ok := c.target(); !ok || !yield(t) {
				return
			}
		}
	}
}

// target reads the next call target of the current record, which must have one left.
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

// countSize maps each record type that holds only a count to the size of that count in normal mode,
// in bytes.
var countSize = [8]uint8{LocationNormal: 4, LocationWide: 8}

// isCount reports whether records of type t hold only a count.
func (t LocationType) isCount() bool { return t-LocationZero <= LocationWide-LocationZero }

// readNormal is the fast path of readAny in normal mode. It reads the most common records. For any
// other record it returns false and leaves the cursor where it was. It branches little on the
// contents of a record, since a processor cannot predict those branches.
//
// It decodes a record from one or two words, loaded before the record's length is known. These
// words may include bytes after the section, as long as they are in the same buffer.
func (c *Cursor) readNormal() bool {
	data := c.f.Data
	p := data[c.f.Pos:cap(data)]
	if len(p) < 4+2+8 {
		return false
	}
	head := binary.BigEndian.Uint32(p)
	has := head >> 31 // 1 if the record has a discriminator
	t := LocationType(head>>24) & wire.LocationTypeMask
	size := 4 + 2*int(has)
	body := binary.BigEndian.Uint64(p[size:])
	l := &c.location
	l.Type, l.Line = t, head&wire.MaxLine
	l.Discriminator = uint32(binary.BigEndian.Uint16(p[4:])) & -has
	left := len(data) - c.f.Pos - size // bytes of the section after line and discriminator
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

// readCompact is the fast path of readAny in compact mode, see readNormal.
func (c *Cursor) readCompact() bool {
	data := c.f.Data
	p := data[c.f.Pos:cap(data)]
	if len(p) < 8 {
		return false
	}
	w := binary.LittleEndian.Uint64(p)
	t := LocationType(w) & wire.LocationTypeMask
	has := uint(w>>4) & 8 // 8 if the record has a discriminator, the width of one end in ends
	w >>= 8
	// Where the varints of the record end, in bits after the bitmask.
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

// enter descends into the body of the current inlined function, which has n records.
func (c *Cursor) enter(n uint32) {
	c.location.NumLocations = n
	c.stack = append(c.stack, c.remaining)
	c.remaining = n
}

// leave returns from the innermost body to the enclosing level.
func (c *Cursor) leave() {
	last := len(c.stack) - 1
	c.remaining, c.stack = c.stack[last], c.stack[:last]
}

// readAny reads a record of any type, field by field.
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

// skipTargets skips the call targets that the caller has not read. It still decodes them, so that a
// malformed varint is reported whether or not the caller reads the targets.
func (c *Cursor) skipTargets() {
	for c.targets > 0 {
		c.target()
	}
}

// An Info holds the samples of one function (RFC 4.7). Use a [Cursor] to walk its locations. An
// Info is a small value that refers to the bytes of the function's section.
type Info struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when the function first ran, in an unspecified unit; 0 if unknown

	f         v4.Fields // positioned at the first location
	locations uint32
}

// Section returns the symbol info section that holds the samples.
func (i Info) Section() Section { return newSection(i.f.Section) }

// Info returns the samples of the function. It reads the symbol info section at most once per Unit.
// It returns [ErrNotFound] if the symbol has no samples of its own, see [Symbol.HasInfo].
func (s Symbol) Info() (Info, error) {
	if !s.HasInfo() {
		return Info{}, fmt.Errorf("afdo: samples of symbol %q: %w", s.name, ErrNotFound)
	}
	f, err := s.unit.info(s.info)
	if err != nil {
		return Info{}, err
	}
	i := newInfo(f)
	return i, i.f.Fault()
}

// newInfo decodes the fields that precede the locations of a symbol info section.
func newInfo(f v4.Fields) Info {
	i := Info{HeadCount: f.Uint64(), Timestamp: f.Uint64()}
	i.locations = uint32(f.LocationCount())
	i.f = f
	return i
}
