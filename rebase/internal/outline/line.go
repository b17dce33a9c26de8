package outline

import (
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
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
