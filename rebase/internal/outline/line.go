package outline

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
)

// A Line is a line of a function, reduced to what is compared.
type Line struct {
	Offset int32    // from the line of the function's declaration
	Hash   uint64   // of its tokens
	Bits   uint8    // how many of the hash say something
	Weight uint8    // how many words it has, or would have if all that is left of it is a mark
	Mark   Mark     // what is remembered of it without its text
	Words  []uint32 // hashes of its identifiers, numbers and strings, sorted; nil if they are not known
}

// Lines returns the lines of a piece of text that have tokens. The first line of the text has
// number line, and the declaration is at line decl. White space and comments make no difference. A
// "#line" renumbers the following lines. A line is left out if it belongs to another file or comes
// too late.
func Lines(text []byte, line, decl int) []Line {
	r := lineReader{lexer: newLexer(text, line), decl: decl}
	return r.read()
}

type lineReader struct {
	lexer
	decl    int
	lines   []Line
	words   []uint32
	longest []byte // word, the first one of several
	digest  xxhash.Digest
	brace   bool // the first token is "}"
	tokens  int
	numbers numbering
}

func (r *lineReader) read() []Line {
	r.digest.Reset()
	current := r.line
	for {
		t := r.next()
		if t.kind == end || t.line != current {
			r.flush(current)
			current = t.line
		}
		if t.kind == end {
			return r.lines
		}
		if t.kind == directive && r.numbers.read(&r.lexer, t.line) {
			continue
		}
		spelled := r.text[t.start:t.end]
		if r.tokens == 0 {
			r.brace = spelled[0] == '}'
		} else {
			r.digest.Write([]byte{' '})
		}
		r.digest.Write(spelled)
		if t.kind == word || t.kind == literal {
			r.words = append(r.words, wordHash(spelled))
			if len(spelled) > len(r.longest) {
				r.longest = spelled
			}
		}
		r.tokens++
	}
}

// flush ends a line.
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
	r.words, r.longest, r.tokens = r.words[:0], nil, 0
	r.digest.Reset()
}

func wordHash(spelled []byte) uint32 { return uint32(xxhash.Sum64(spelled)) }

// Word returns what Line.Words has for a token.
func Word(token string) uint32 { return uint32(xxhash.Sum64String(token)) }

// Parameters returns the words in the parentheses after a name of a function, in their order.
func (f *Function) Parameters(text []byte, n Name) []uint32 {
	l := newLexer(text[n.Start:max(n.Start, f.End)], n.line)
	l.fresh = false
	var words []uint32
	depth := 0
	for t := l.next(); t.kind != end; t = l.next() {
		switch spelled := l.text[t.start:t.end]; {
		case spelled[0] == '(':
			depth++
		case spelled[0] == ')':
			if depth--; depth <= 0 && len(words) > 0 || l.at(l.pos) != '(' {
				return words
			}
		case spelled[0] == '{':
			return words
		case depth > 0 && t.kind == word:
			words = append(words, wordHash(spelled))
		}
	}
	return words
}

// Words returns the identifiers and numbers of a text in their order. It is never nil.
func Words(text []byte) []uint32 {
	l := newLexer(text, 1)
	words := []uint32{}
	for t := l.next(); t.kind != end; t = l.next() {
		if t.kind == word {
			words = append(words, wordHash(text[t.start:t.end]))
		}
	}
	return words
}

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

// A numbering follows "#line", which sets the file and the number of the next line.
type numbering struct {
	own   string // the file of interest
	file  string // the file of the current line
	shift int    // from the number of a line to the one it is said to have
}

// number returns the number that a line is said to have, and whether it is of the own file.
func (n *numbering) number(line int) (int, bool) { return line + n.shift, n.file == n.own }

// read reads "#line", or the short form that preprocessors write, after its '#'. It ignores other
// directives.
func (n *numbering) read(l *lexer, line int) bool {
	rest := l.text[l.pos:]
	if stop := bytes.IndexByte(rest, '\n'); stop >= 0 {
		rest = rest[:stop]
	}
	fields := bytes.TrimLeft(rest, " \t")
	if after, ok := bytes.CutPrefix(fields, []byte("line")); ok {
		fields = bytes.TrimLeft(after, " \t")
	}
	digits := 0
	for digits < len(fields) && isDigit(fields[digits]) {
		digits++
	}
	number, err := strconv.ParseInt(string(fields[:digits]), 10, 32)
	if err != nil {
		return false
	}
	n.shift = int(number) - (line + 1)
	if name := quotedName(fields[digits:]); name != "" {
		n.file = name
	}
	l.pos += len(rest)
	return true
}

// quotedName returns the first name in quotes.
func quotedName(text []byte) string {
	open := bytes.IndexByte(text, '"')
	if open < 0 {
		return ""
	}
	name, _, closed := bytes.Cut(text[open+1:], []byte{'"'})
	if !closed {
		return ""
	}
	return string(name)
}
