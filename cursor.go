package afdo

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A Cursor steps through the location records of a function in pre-order: the
// records of an inlined body follow the record of the inlined function, one level deeper.
//
//	for c := info.Cursor(); c.Next(); {
//		location := c.Location()
//		…
//	}
//	if err := c.Err(); err != nil { … }
//
// Records are yielded as they stand in the file: several may be of one place,
// and then add up (format note 13). A Cursor needs four bytes of memory a
// level of nesting, whatever a file announces, and no machine stack. It is not
// safe for concurrent use; any number of Cursors may walk one Info.
type Cursor struct {
	f         fields
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

// Reset moves the cursor before the first record of a function. A Cursor that is reused
// allocates only when it meets a nesting deeper than any before. The zero Cursor may be reset, too.
func (c *Cursor) Reset(i Info) {
	c.f, c.remaining, c.stack = i.f, i.locations, c.stack[:0]
	c.depth, c.targets, c.unknown = 0, 0, 0
}

// Err returns the error that ended the walk, nil if it came to its end.
func (c *Cursor) Err() error { return c.f.err }

// Location returns the record at which the last call of Next has arrived. It
// is the cursor's own, overwritten by the next call of Next.
func (c *Cursor) Location() *Location { return &c.location }

// Depth returns how many inlined bodies enclose the record: 0 for a record of the
// function's own.
func (c *Cursor) Depth() int { return c.depth }

// Unknown returns how many records of types that are not of the RFC have been
// passed over (RFC 4.8.3, format note 16).
func (c *Cursor) Unknown() uint64 { return c.unknown }

// Offset returns where the next record to be read begins, from the start of
// the file; after an error, where the section begins.
func (c *Cursor) Offset() int64 { return c.f.sec.Offset + int64(c.f.pos) }

// Next moves to the next record. It returns false at the end, or at an error, see [Cursor.Err].
func (c *Cursor) Next() bool {
	if c.targets > 0 {
		c.skipTargets()
	}
	for {
		for c.remaining == 0 {
			if len(c.stack) == 0 {
				return false
			}
			c.remaining = c.stack[len(c.stack)-1]
			c.stack = c.stack[:len(c.stack)-1]
		}
		c.remaining--
		if c.read() {
			return c.f.err == nil
		}
	}
}

// Skip passes over the body of the inlined function at which Next has
// arrived: Next goes on behind it. The format does not say how long a body is, so
// its records are read all the same. After any other record Skip does nothing.
func (c *Cursor) Skip() {
	location, depth := c.location, c.depth
	for len(c.stack) > depth {
		if c.remaining > 0 {
			c.remaining--
			c.read()
			if c.targets > 0 {
				c.skipTargets()
			}
			continue
		}
		c.remaining = c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
	}
	c.location, c.depth = location, depth
}

// NextTarget returns the next call target of the record at which Next has
// arrived. It returns false when there are no more, which is at once for a
// record that is no call, or at an error.
func (c *Cursor) NextTarget() (Target, bool) {
	if c.targets == 0 {
		return Target{}, false
	}
	c.targets--
	t := Target{SymbolID(c.f.uint32()), c.f.uint64()}
	if c.f.err != nil {
		c.stop()
		return Target{}, false
	}
	return t, true
}

// stop ends the walk.
func (c *Cursor) stop() { c.remaining, c.stack, c.targets = 0, c.stack[:0], 0 }

// read reads the record at hand. It returns false for one of unknown type,
// which it passes over.
func (c *Cursor) read() bool {
	c.depth = len(c.stack)
	if c.f.sec.Compact {
		if c.readCompact() {
			return true
		}
	} else if c.readNormal() {
		return true
	}
	known := c.readAny()
	if c.f.err != nil {
		c.stop()
		return true
	}
	return known
}

// countSize is the size of the count in a normal-mode record by type, for the
// types that hold nothing else.
var countSize = [8]uint8{LocationNormal: 4, LocationWide: 8}

// isCount reports whether a record of the type holds a count and nothing else.
func (t LocationType) isCount() bool { return t-LocationZero <= LocationWide-LocationZero }

// readNormal is readAny for the records that most are, in normal mode and clear of the section's end.
// It returns false, and has done nothing, for the others. It branches as
// little as it can on what a record holds, since no processor could guess it.
func (c *Cursor) readNormal() bool {
	p := c.f.data[c.f.pos:]
	if len(p) < 4+2+8 {
		return false
	}
	head := binary.BigEndian.Uint32(p)
	has := head >> 31 // discriminator
	t := LocationType(head>>24) & locationTypeMask
	size := 4 + 2*int(has)
	body := binary.BigEndian.Uint64(p[size:])
	l := &c.location
	l.Type, l.Line = t, head&maxUint24
	l.Discriminator = uint32(binary.BigEndian.Uint16(p[4:])) & -has
	switch {
	case t.isCount():
		bytes := uint(countSize[t&7])
		l.Count = body >> (64 - 8*bytes)
		l.Callee, l.NumTargets, l.NumLocations = 0, 0, 0
		c.f.pos += size + int(bytes)
		return true
	case t == LocationInlinedFn:
		if body&math.MaxUint32 > uint64(len(p)-size-8)/minLocation {
			return false
		}
		l.Count, l.NumTargets = 0, 0
		l.Callee = SymbolID(body >> 32)
		c.enter(uint32(body))
		c.f.pos += size + 8
		return true
	}
	return false
}

// readCompact is readNormal for compact mode. It takes a record apart in one
// 8-byte word, if that holds it.
func (c *Cursor) readCompact() bool {
	p := c.f.data[c.f.pos:]
	if len(p) < 8 {
		return false
	}
	w := binary.LittleEndian.Uint64(p)
	t := LocationType(w) & locationTypeMask
	has := -(w >> 7 & 1) // all ones with a discriminator, all zeros without
	w >>= 8
	// A clear continuation flag ends a varint. Each of these has the one such flag set
	// that ends the field, or none if the word does not hold it.
	ends := ^w & 0x0080808080808080
	line := ends & -ends
	ends ^= line
	disc := ends & -ends & has
	ends ^= disc
	disc |= line &^ has
	third := ends & -ends
	ends ^= third

	afterLine := uint(bits.TrailingZeros64(line)+1) & 63
	afterDisc := uint(bits.TrailingZeros64(disc)+1) & 63
	lineBits := w & (line - 1)
	discBits := w & (disc - 1) >> afterLine
	value := gather7(w & (third - 1) >> afterDisc)
	if disc == 0 || line > 1<<15 || disc>>afterLine > 1<<15 {
		return false
	}
	l := &c.location
	size := int(afterDisc)/8 + 1
	switch {
	case t.isCount():
		counted := -uint64(t >> 1) // all zeros for LocationZero
		if third == 0 && counted != 0 || value > math.MaxUint32 {
			return false
		}
		l.Count, l.Callee, l.NumTargets, l.NumLocations = value&counted, 0, 0, 0
		afterThird := bits.TrailingZeros64(third) + 1
		size += (afterThird - int(afterDisc)) / 8 & int(counted)
	case t == LocationInlinedFn:
		last := ends & -ends
		if last == 0 || value > math.MaxUint32 {
			return false
		}
		afterThird := uint(bits.TrailingZeros64(third)+1) & 63
		n := gather7(w & (last - 1) >> afterThird)
		size = (bits.TrailingZeros64(last)+1)/8 + 1
		if n > uint64(len(p)-size)/minCompactLocation {
			return false
		}
		l.Count, l.Callee, l.NumTargets = 0, SymbolID(value), 0
		c.enter(uint32(n))
	default:
		return false
	}
	l.Type = t
	l.Line = uint32(lineBits&0x7f | lineBits>>1&0x3f80)
	l.Discriminator = uint32((discBits&0x7f | discBits>>1&0x3f80) & has)
	c.f.pos += size
	return true
}

// enter opens the body of the inlined function at hand, of n records.
func (c *Cursor) enter(n uint32) {
	c.location.NumLocations = n
	c.stack = append(c.stack, c.remaining)
	c.remaining = n
}

// readAny reads any record, field by field.
func (c *Cursor) readAny() bool {
	f, l := &c.f, &c.location
	mask := f.byte()
	*l = Location{Type: LocationType(mask & locationTypeMask), Line: f.uint24()}
	if mask&discriminatorFlag != 0 {
		l.Discriminator = uint32(f.uint16())
	}
	switch l.Type {
	case LocationZero:
	case LocationNormal:
		l.Count = uint64(f.uint32())
	case LocationWide:
		l.Count = f.uint64()
	case LocationCalledFn:
		c.setTargets(1)
	case LocationCalledFns:
		c.setTargets(f.uint32())
	case LocationInlinedFn:
		l.Callee = SymbolID(f.uint32())
		c.enter(uint32(f.locationCount()))
	default:
		f.take(int(min(f.uint32(), math.MaxInt32)), "an unknown location")
		c.unknown++
		return false
	}
	return true
}

func (c *Cursor) setTargets(n uint32) {
	n = uint32(c.f.count(uint64(n), minTarget, minCompactTarget, "call targets"))
	c.location.NumTargets, c.targets = n, n
}

// skipTargets passes over the targets that nobody asked for. As varints, their values are
// checked nevertheless: whether a file is malformed must not depend on who reads it.
func (c *Cursor) skipTargets() {
	for c.targets > 0 {
		if _, ok := c.NextTarget(); !ok {
			return
		}
	}
}
