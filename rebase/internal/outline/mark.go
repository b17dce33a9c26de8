package outline

import (
	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
)

// A Mark is what a profile stores of a source line: so few bits that the text cannot be recovered,
// and that many lines have the same mark.
type Mark = sourcefmt.Mark

// What the words of a line that has only a mark count for, and how much the mark of one without
// words says.
const (
	markedWeight = 3
	wordlessBits = 1
)

// mark returns the mark of the current line: bits of the hash of its longest word, which changes
// less often than the line.
func (r *lineReader) mark() Mark {
	switch {
	case len(r.words) > 0:
		return sourcefmt.FirstWords + Mark(xxhash.Sum64(r.longest)>>(64-sourcefmt.WordBits))
	case r.tokens == 1 && r.brace:
		return sourcefmt.CloseBrace
	}
	return sourcefmt.NoWords
}

// Marks returns the marks of lines, from the line of the declaration on. Lines before it have none.
func Marks(lines []Line) []Mark {
	last := int32(-1)
	if len(lines) > 0 {
		last = lines[len(lines)-1].Offset
	}
	marks := make([]Mark, last+1)
	for i := range lines {
		if at := lines[i].Offset; at >= 0 {
			marks[at] = lines[i].Mark
		}
	}
	return marks
}

// Marked returns lines that are only known by their marks.
func Marked(marks []Mark) []Line {
	lines := make([]Line, 0, len(marks))
	for offset, m := range marks {
		l := Line{Offset: int32(offset), Mark: m, Hash: uint64(m), Bits: sourcefmt.WordBits, Weight: markedWeight}
		switch {
		case m == sourcefmt.NoTokens:
			continue
		case m < sourcefmt.FirstWords:
			l.Bits, l.Weight = wordlessBits, 0
		}
		lines = append(lines, l)
	}
	return lines
}
