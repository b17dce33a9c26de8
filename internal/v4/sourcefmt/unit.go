package sourcefmt

import "math/bits"

// How the marks of a unit lie in its bits: for each symbol ID of its range a bit that says whether
// there are marks of a function. If so, 1 and the number of an earlier function of the unit that
// has the same ones, such as another function of the same template; or 0 and
//
//	number of lines    Rice code of LENGTH_BITS
//	then, until there are so many:
//	  lines with words in a row    Rice code of RUN_BITS, and WordBits for each
//	  a line without, unless the function ends here: 0 no tokens, 10 a lone "}", 11 others

// A Unit is what is remembered of a unit.
type Unit struct {
	Sum       uint32 // lower half of the hash of the file; 0 if it is not known
	Functions []Function
}

// A Function is the marks of one function, by its symbol ID, counted from the unit's first one.
// None are there if they are of several states of the sources.
type Function struct {
	ID    uint32
	Marks []Mark
}

// maxLines is more lines than a function can have.
const maxLines = 1 << 26

// widths are parameters of the Rice codes.
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

// numberBits is how many bits a number has of one of so many functions.
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

// wordsIn returns how many lines with words come first.
func wordsIn(marks []Mark) int {
	for i, m := range marks {
		if m < FirstWords {
			return i
		}
	}
	return len(marks)
}

// unit reads the functions of a unit.
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
	if lines > r.left() { // each takes a bit at least
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
