package sourcefmt

import "math/bits"

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
			w.put(0, 1)
		}
		w.put(1, 1)
		next = f.ID + 1
		if n, ok := earlier[string(f.Marks)]; ok {
			w.put(1, 1)
			w.put(n, numberBits(len(earlier)))
			continue
		}
		earlier[string(f.Marks)] = uint32(len(earlier))
		w.put(0, 1)
		w.function(f.Marks, widths)
	}
	for ; next < ids; next++ {
		w.put(0, 1)
	}
}

// numberBits returns the number of bits for the number of one of n functions.
func numberBits(n int) uint8 { return uint8(bits.Len(uint(n - 1))) }

func (w *bitWriter) function(marks []Mark, widths widths) {
	w.rice(uint32(len(marks)), widths.length)
	for len(marks) > 0 {
		n := wordsIn(marks)
		w.rice(uint32(n), widths.run)
		for _, m := range marks[:n] {
			w.put(uint32(m-FirstWords), WordBits)
		}
		if marks = marks[n:]; len(marks) == 0 {
			return
		}
		switch marks[0] {
		case NoTokens:
			w.put(0b0, 1)
		case CloseBrace:
			w.put(0b10, 2)
		default:
			w.put(0b11, 2)
		}
		marks = marks[1:]
	}
}

// wordsIn returns the number of lines with words at the start of marks.
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
