package sourcefmt

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Mark is a fingerprint of a line, too short to reveal its text.
type Mark = byte

// The marks. The mark of a line with words is FirstWords plus the highest WordBits bits of the hash
// of its longest word, or of the first one if there are several.
const (
	NoTokens   Mark = iota // not a line of code
	CloseBrace             // only a "}"
	NoWords                // other punctuation
	FirstWords
	NumMarks = FirstWords + 1<<WordBits
)

// WordBits is the number of bits of the hash.
const WordBits = 4

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
		var bits bitWriter
		bits.Put(uint64(u.Sum), 32)
		bits.unit(u, ids(i), w)
		bits.Align()
		e.Uint32(uint32(len(bits.Data)))
		body = append(body, bits.Data...)
	}
	return append(e.Data, body...)
}

// choose returns the parameters of the Rice codes with which the section has the smallest size.
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

// least returns the index of the smallest of some sizes.
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

// Sum returns the sum of a unit, see [Unit]. ok reports whether any function of the unit has marks.
func (t *Table) Sum(rank int) (sum uint32, ok bool) {
	low, high := t.bytes(rank)
	if low == high {
		return 0, false
	}
	return binary.BigEndian.Uint32(t.data[low:]), true
}

// bytes returns where the data of a unit begin and end in the section.
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

// A bitWriter appends the marks of a unit.
type bitWriter struct{ wire.BitWriter }

// rice appends a Rice code: v>>low in unary (ones and a zero), then the lowest bits.
func (w *bitWriter) rice(v uint32, low uint8) {
	for range v >> low {
		w.Put(1, 1)
	}
	w.Put(0, 1)
	w.Put(uint64(v), low)
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

// The marks of a unit are encoded as bits. For each symbol ID of its range, a bit is 1 if the
// function has marks. Then follows either 1 and the number of an earlier function of the unit with
// the same marks, for example another instance of a template, or 0 and
//
//	number of lines    Rice code of LENGTH_BITS
//	then, until all lines are encoded:
//	  number of lines with words    Rice code of RUN_BITS, and WordBits for each line
//	  a line without words, unless the function ends here: 0 no tokens, 10 only a "}", 11 others

// A Unit holds the marks of a unit.
type Unit struct {
	Sum       uint32 // lower half of the hash of the file; 0 if unknown
	Functions []Function
}

// A Function holds the marks of one function. ID counts from the unit's first symbol ID. Marks is
// empty if the samples come from several versions of the source.
type Function struct {
	ID    uint32
	Marks []Mark
}

// maxLines exceeds the number of lines of any function.
const maxLines = 1 << 26

// widths holds the parameters of the Rice codes.
type widths struct{ length, run uint8 }

func (w *bitWriter) unit(u *Unit, ids uint32, widths widths) {
	next := uint32(0)
	earlier := make(map[string]uint32)
	for _, f := range u.Functions {
		for ; next < f.ID; next++ {
			w.Put(0, 1)
		}
		w.Put(1, 1)
		next = f.ID + 1
		if n, ok := earlier[string(f.Marks)]; ok {
			w.Put(1, 1)
			w.Put(uint64(n), numberBits(len(earlier)))
			continue
		}
		earlier[string(f.Marks)] = uint32(len(earlier))
		w.Put(0, 1)
		w.function(f.Marks, widths)
	}
	for ; next < ids; next++ {
		w.Put(0, 1)
	}
}

// numberBits returns how many bits are needed for the number of one function among n.
func numberBits(n int) uint8 { return uint8(bits.Len(uint(n - 1))) }

func (w *bitWriter) function(marks []Mark, widths widths) {
	w.rice(uint32(len(marks)), widths.length)
	for len(marks) > 0 {
		n := wordsIn(marks)
		w.rice(uint32(n), widths.run)
		for _, m := range marks[:n] {
			w.Put(uint64(uint32(m-FirstWords)), WordBits)
		}
		if marks = marks[n:]; len(marks) == 0 {
			return
		}
		switch marks[0] {
		case NoTokens:
			w.Put(0b0, 1)
		case CloseBrace:
			w.Put(0b10, 2)
		default:
			w.Put(0b11, 2)
		}
		marks = marks[1:]
	}
}

// wordsIn returns how many lines at the beginning of marks have words, that is, are neither empty
// nor only punctuation.
func wordsIn(marks []Mark) int {
	for i, m := range marks {
		if m < FirstWords {
			return i
		}
	}
	return len(marks)
}

// unit decodes the functions of a unit.
func (r *bitReader) unit(ids uint32, widths widths, yield func(Function)) {
	var earlier [][]Mark
	for id := uint32(0); id < ids && !r.over; id++ {
		if r.take(1) == 0 {
			continue
		}
		if r.take(1) == 0 {
			earlier = append(earlier, r.function(widths))
			if !r.over {
				yield(Function{id, earlier[len(earlier)-1]})
			}
			continue
		}
		n := r.take(numberBits(max(len(earlier), 1)))
		if r.over = r.over || int(n) >= len(earlier); !r.over {
			yield(Function{id, earlier[n]})
		}
	}
}

func (r *bitReader) function(widths widths) []Mark {
	lines := int(r.rice(widths.length))
	if lines > r.left() { // each line takes at least a bit
		r.over = true
		return nil
	}
	marks := make([]Mark, 0, lines)
	for len(marks) < lines && !r.over {
		run := int(r.rice(widths.run))
		if run > lines-len(marks) {
			r.over = true
			return nil
		}
		for range run {
			marks = append(marks, FirstWords+Mark(r.take(WordBits)))
		}
		if len(marks) == lines {
			break
		}
		mark := NoTokens
		if r.take(1) == 1 {
			mark = CloseBrace + Mark(r.take(1))
		}
		marks = append(marks, mark)
	}
	return marks
}
