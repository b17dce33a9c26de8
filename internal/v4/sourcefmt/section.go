package sourcefmt

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

const (
	magic   = "afds"
	version = 1
	sumSize = 4
)

// Maximum parameters of Rice codes.
const (
	maxLengthBits = 15
	maxRunBits    = 7
)

// A Section is the contents of a sources section.
type Section struct {
	Names uint32 // checksum of the file names section, whose units and symbol IDs are used
	Units []Unit // by position in that section
}

// Append appends a section without its bitmask byte. ids returns the number of symbol IDs of a
// unit.
func Append(dst []byte, compact bool, s *Section, ids func(rank int) uint32) []byte {
	w := choose(s)
	var body []byte
	e := wire.Encoder{Data: dst, Compact: compact}
	e.String(magic)
	e.Byte(version)
	e.Data = binary.BigEndian.AppendUint32(e.Data, s.Names)
	e.Byte(w.length)
	e.Byte(w.run)
	e.Uint32(uint32(len(s.Units)))
	for i := range s.Units {
		u := &s.Units[i]
		if len(u.Functions) == 0 {
			e.Uint32(0)
			continue
		}
		bits := bitWriter{data: binary.BigEndian.AppendUint32(nil, u.Sum)}
		bits.unit(u, ids(i), w)
		e.Uint32(uint32(len(bits.data)))
		body = append(body, bits.data...)
	}
	return append(e.Data, body...)
}

// choose returns the parameters that minimise the size of the section.
func choose(s *Section) widths {
	var lengths [maxLengthBits + 1]int
	var runs [maxRunBits + 1]int
	for i := range s.Units {
		for _, f := range s.Units[i].Functions {
			for low := range lengths {
				lengths[low] += riceSize(uint32(len(f.Marks)), uint8(low))
			}
			for marks := f.Marks; len(marks) > 0; {
				n := wordsIn(marks)
				for low := range runs {
					runs[low] += riceSize(uint32(n), uint8(low))
				}
				marks = marks[min(n+1, len(marks)):]
			}
		}
	}
	return widths{least(lengths[:]), least(runs[:])}
}

// least returns the index of the smallest number.
func least(sizes []int) (at uint8) {
	for i := range sizes {
		if sizes[i] < sizes[at] {
			at = uint8(i)
		}
	}
	return at
}

// A Table is a sources section whose units are decoded when needed.
type Table struct {
	Names  uint32
	data   []byte
	widths widths
	ends   []int // end of each unit's bytes, relative to start
	start  int   // start of the first unit's bytes
}

// Is reports whether data, including the bitmask byte, begins like a sources section.
func Is(data []byte) bool {
	return len(data) > len(magic) && data[0]&wire.SectionTypeMask == wire.Sources && string(data[1:1+len(magic)]) == magic
}

// NewTable opens a section, given with its bitmask byte, for which [Is] returns true. It returns
// nil if the section has another version.
func NewTable(data []byte) (*Table, *wire.Fault) {
	f := wire.Fields{Data: data, Pos: 1 + len(magic), Compact: data[0]&wire.CompactFlag != 0}
	if f.Byte() != version && f.Err == nil {
		return nil, nil
	}
	t := &Table{data: data}
	if sum := f.Take(sumSize, "a checksum"); f.Err == nil {
		t.Names = binary.BigEndian.Uint32(sum)
	}
	at := f.Pos
	t.widths = widths{f.Byte(), f.Byte()}
	if t.widths.length > maxLengthBits || t.widths.run > maxRunBits {
		f.Fail(at, fault.ErrLimit, "numbers with %d and %d low bits", t.widths.length, t.widths.run)
	}
	t.ends = make([]int, f.Count(uint64(f.Uint32()), 4, 1, "units"))
	end := 0
	for i := range t.ends {
		at := f.Pos
		size := f.Uint32()
		if end += int(size); end > len(data) || size > 0 && size <= sumSize {
			f.Fail(at, fault.ErrCount, "%d bytes of a unit", size)
			return nil, f.Err
		}
		t.ends[i] = end
	}
	t.start = f.Pos
	if f.Err == nil && end != f.Rest() {
		f.Fail(f.Pos, fault.ErrCount, "units of %d bytes, %d left", end, f.Rest())
	}
	return t, f.Err
}

// NumUnits returns the number of units.
func (t *Table) NumUnits() int { return len(t.ends) }

// Sum returns the sum of a unit. ok reports whether the unit has any data.
func (t *Table) Sum(rank int) (sum uint32, ok bool) {
	low, high := t.bytes(rank)
	if low == high {
		return 0, false
	}
	return binary.BigEndian.Uint32(t.data[low:]), true
}

// bytes returns the range of a unit's bytes.
func (t *Table) bytes(rank int) (low, high int) {
	low = t.start
	if rank > 0 {
		low += t.ends[rank-1]
	}
	return low, t.start + t.ends[rank]
}

// Unit decodes a unit that has ids symbol IDs, and yields its functions. It returns the unit's sum.
func (t *Table) Unit(rank int, ids uint32, yield func(Function)) (sum uint32, wrong *wire.Fault) {
	low, high := t.bytes(rank)
	if low == high {
		return 0, nil
	}
	r := bitReader{data: t.data[low+sumSize : high]}
	if r.unit(ids, t.widths, yield); r.over || r.left() >= 8 {
		f := wire.Fields{Data: t.data}
		f.Fail(low, fault.ErrCount, "the marks of a unit are not of its %d bytes", high-low)
		return 0, f.Err
	}
	return binary.BigEndian.Uint32(t.data[low:]), nil
}

// A bitWriter appends numbers bit by bit, starting with the highest bit of a byte.
type bitWriter struct {
	data []byte
	free uint8 // unused bits in the last byte
}

// put appends the lowest width bits of a number.
func (w *bitWriter) put(v uint32, width uint8) {
	for width > 0 {
		if w.free == 0 {
			w.data, w.free = append(w.data, 0), 8
		}
		n := min(width, w.free)
		width -= n
		w.free -= n
		w.data[len(w.data)-1] |= byte(v>>width) & (1<<n - 1) << w.free
	}
}

// rice appends a Rice code: v>>low in unary (ones and a zero), then the lowest bits.
func (w *bitWriter) rice(v uint32, low uint8) {
	for range v >> low {
		w.put(1, 1)
	}
	w.put(0, 1)
	w.put(v, low)
}

// riceSize returns the size of a Rice code in bits.
func riceSize(v uint32, low uint8) int { return int(v>>low) + 1 + int(low) }

// A bitReader reads the output of a bitWriter. Beyond the end it reads zeros and sets over.
type bitReader struct {
	data []byte
	pos  int // in bits
	over bool
}

func (r *bitReader) left() int { return 8*len(r.data) - r.pos }

func (r *bitReader) take(width uint8) (v uint32) {
	if int(width) > r.left() {
		r.over = true
		return 0
	}
	for width > 0 {
		free := uint8(8 - r.pos%8)
		n := min(width, free)
		width -= n
		v = v<<n | uint32(r.data[r.pos/8])>>(free-n)&(1<<n-1)
		r.pos += int(n)
	}
	return v
}

// rice reads a Rice code.
func (r *bitReader) rice(low uint8) uint32 {
	ones := uint32(0)
	for {
		if r.left() == 0 {
			r.over = true
			return 0
		}
		ahead := r.data[r.pos/8] << (r.pos % 8)
		n := min(bits.LeadingZeros8(^ahead), 8-r.pos%8)
		r.pos += n
		ones += uint32(n)
		if r.pos%8 != 0 || n == 0 {
			break
		}
	}
	r.pos++ // skip the zero
	if ones > maxLines>>low {
		r.over = true
		return 0
	}
	return ones<<low | r.take(low)
}
