package outline

// A Mark is what is remembered of a line without its text: so few bits that the text cannot be told
// from them, and that many lines have the same one.
type Mark uint8

// The marks. Those of lines with words are hashes of their tokens.
const (
	NoTokens   Mark = iota // no line of code
	CloseBrace             // a lone "}"
	NoWords                // other punctuation
	FirstWords             // the first of lines with words
	NumMarks   = FirstWords + 1<<MarkBits
)

// MarkBits is how many bits of the hash of a line with words its mark has.
const MarkBits = 4

// What the words of a line that has only a mark count for, and how much marks say.
const (
	markedWeight = 3
	wordlessBits = 1
)

var closeBrace = tokensHash("}")

// Mark returns the mark of a line.
func (l *Line) Mark() Mark {
	switch {
	case l.Weight > 0:
		return FirstWords + Mark(l.Hash>>(64-MarkBits))
	case l.Hash == closeBrace:
		return CloseBrace
	}
	return NoWords
}

// Marks returns the marks of lines, from that of the declaration on. Lines before it have none.
func Marks(lines []Line) []Mark {
	last := int32(-1)
	if len(lines) > 0 {
		last = lines[len(lines)-1].Offset
	}
	marks := make([]Mark, last+1)
	for i := range lines {
		if at := lines[i].Offset; at >= 0 {
			marks[at] = lines[i].Mark()
		}
	}
	return marks
}

// Marked returns lines of which only the marks are known.
func Marked(marks []Mark) []Line {
	var lines []Line
	for offset, m := range marks {
		l := Line{Offset: int32(offset), Hash: uint64(m), Bits: MarkBits, Weight: markedWeight}
		switch {
		case m == NoTokens:
			continue
		case m < FirstWords:
			l.Bits, l.Weight = wordlessBits, 0
		}
		lines = append(lines, l)
	}
	return lines
}
