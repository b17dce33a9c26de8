package outline

import (
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
)

// A Line is a source line of a function in the form in which two versions of the function are
// compared, mainly hashes of its words.
type Line struct {
	Offset int32    // number of lines after the function's declaration
	Hash   uint64   // hash of its tokens, or its mark if the text is unknown
	Bits   uint8    // bits of evidence in the hash
	Weight uint8    // number of words; an estimate if only the mark is known
	Mark   Mark     // the line's fingerprint in a profile
	Words  []uint32 // sorted hashes of its identifiers, numbers and strings; nil if only the mark is known
}

// Names reports whether a line contains the word with the given hash. It returns false for lines
// whose text is unknown.
func (l *Line) Names(word uint32) bool {
	_, ok := slices.BinarySearch(l.Words, word)
	return ok
}

// A lineReader reads the lines of a function that have tokens. White space and comments make no
// difference. A "#line" renumbers the lines after it. Lines of other files are left out, and so are
// lines whose number is not above that of the line before them.
type lineReader struct {
	cpp.Lexer
	decl      int
	lines     []Line
	words     []uint32
	longest   []byte // word with the highest rank so far, the first one of several
	rank      int    // rank of longest, see rankOf
	condition condition
	digest    xxhash.Digest
	brace     bool // the first token of the line is "}"
	tokens    int
	numbers   numbering
}

// read returns the lines of the function's text that have tokens.
func (r *lineReader) read() []Line {
	r.digest.Reset()
	current := r.Line
	for {
		t := r.Next()
		if t.Kind == cpp.End || t.Line != current {
			r.flush(current)
			current = t.Line
		}
		if t.Kind == cpp.End {
			return r.lines
		}
		if t.Kind == cpp.Directive {
			after := r.Lexer
			if r.numbers.read(after.Directive(), t.Line) {
				r.Lexer = after
				continue
			}
		}
		spelled := r.Text[t.Start:t.End]
		if r.tokens == 0 {
			r.brace = spelled[0] == '}'
		} else {
			r.digest.Write([]byte{' '})
		}
		r.digest.Write(spelled)
		if t.Kind == cpp.Word || t.Kind == cpp.Literal {
			r.words = append(r.words, wordHash(spelled))
			if rank := rankOf(spelled); rank > r.rank && !r.condition.closed {
				r.longest, r.rank = spelled, rank
			}
		}
		r.condition.read(spelled, r.rank > 1)
		r.tokens++
	}
}

// flush appends the line that has been read to r.lines, with the number line, and resets the state
// for the next line.
func (r *lineReader) flush(line int) {
	number, own := r.numbers.number(line)
	offset := int32(number - r.decl)
	if r.tokens > 0 && own && (len(r.lines) == 0 || offset > r.lines[len(r.lines)-1].Offset) {
		slices.Sort(r.words)
		r.lines = append(r.lines, Line{
			Offset: offset, Hash: r.digest.Sum64(), Bits: 64, Weight: uint8(min(len(r.words), math.MaxUint8)),
			Mark: r.mark(), Words: append([]uint32{}, r.words...),
		})
	}
	r.words, r.longest, r.rank, r.tokens = r.words[:0], nil, 0, 0
	r.condition = condition{}
	r.digest.Reset()
}

func wordHash(spelled []byte) uint32 { return uint32(xxhash.Sum64(spelled)) }

// A condition finds the end of the parentheses after an if, for, while or switch. Formatters move
// the statement after these parentheses to the next line and back. So the fingerprint of a line
// (its mark) uses only the words up to this end.
type condition struct {
	begun, closed bool
	parens        int
}

// read processes the next token of a line, to find the end of the parentheses after an if, for,
// while or switch. worded is true if the line so far has a word from which its fingerprint (mark)
// can be made.
func (c *condition) read(token []byte, worded bool) {
	switch string(token) {
	case "if", "for", "while", "switch":
		c.begun = c.begun || c.parens == 0
	case "(":
		c.parens++
	case ")":
		c.parens--
		c.closed = c.closed || c.begun && c.parens == 0 && worded
	}
}

// rankOf returns the rank of a word in its line. The fingerprint of a line (its mark) is made from
// the word with the highest rank. The rank is the length of the word. A keyword that begins a
// statement has a lower rank than all other words.
func rankOf(word []byte) int {
	if cpp.BeginsStatement(word) {
		return 1
	}
	return 1 + len(word)
}

// Word returns the hash that Line.Words contains for a word.
func Word(token string) uint32 { return uint32(xxhash.Sum64String(token)) }

// Words returns the hashes of the identifiers and numbers in a text, in order. It is never nil.
func Words(text []byte) []uint32 {
	l := cpp.NewLexer(text, 1)
	words := []uint32{}
	for t := l.Next(); t.Kind != cpp.End; t = l.Next() {
		if t.Kind == cpp.Word {
			words = append(words, wordHash(text[t.Start:t.End]))
		}
	}
	return words
}

// A Mark is the fingerprint of a source line that a profile stores. It has so few bits that the
// text cannot be recovered, and that many lines have the same mark.
type Mark = sourcefmt.Mark

// Properties of lines whose text is unknown. markedWeight is the assumed number of words in a line
// with words. wordlessBits is the number of bits of evidence in the mark of a line without words.
const (
	markedWeight = 3
	wordlessBits = 1
)

// mark returns the fingerprint of the current line (its mark): some bits of the hash of its longest
// word. That word changes less often than the other words of the line.
func (r *lineReader) mark() Mark {
	switch {
	case len(r.words) > 0:
		return sourcefmt.FirstWords + Mark(xxhash.Sum64(r.longest)>>(64-sourcefmt.WordBits))
	case r.tokens == 1 && r.brace:
		return sourcefmt.CloseBrace
	}
	return sourcefmt.NoWords
}

// Marks returns the fingerprints (marks) of a function's lines for a profile, from the line of the
// declaration on. Lines before it are left out.
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

// Marked returns the lines of a function whose text is unknown, given the fingerprints (marks) of
// its lines.
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

// A numbering tracks "#line" directives, which set the file name and number of the next line.
type numbering struct {
	own   string // file of the function that is read
	file  string // file of the current line
	shift int    // difference between the number by "#line" and the number in the text
}

// number returns the number that "#line" directives give to a line of the text. line is its number
// in the text. number returns false if the directives attribute the line to another file.
func (n *numbering) number(line int) (int, bool) { return line + n.shift, n.file == n.own }

// read reports whether a directive is a "#line", and if so numbers the next lines by it. line is
// the line of the directive in the text.
func (n *numbering) read(directive []byte, line int) bool {
	number, file, ok := cpp.LineMarker(directive)
	if !ok {
		return false
	}
	n.shift = number - (line + 1)
	if file != "" {
		n.file = file
	}
	return true
}
