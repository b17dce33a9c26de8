package cxx

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// digraph returns the character for the digraph that begins with c at the current position, and
// moves to its second character. Without a digraph it returns c. The preprocessor does not replace
// digraphs.
func (d *scanner) digraph(c byte) byte {
	if d.pos+1 >= len(d.text) {
		return c
	}
	char := c
	switch string(d.text[d.pos : d.pos+2]) {
	case "<%":
		char = '{'
	case "%>":
		char = '}'
	case "<:":
		if rest := d.text[d.pos+2:]; len(rest) > 1 && rest[0] == ':' && rest[1] != ':' && rest[1] != '>' {
			return c // before a name from the outermost scope
		}
		char = '['
	case ":>":
		char = ']'
	default:
		return c
	}
	d.pos++
	return char
}

// operatorSymbols are what the names of operator functions end in, longer ones before shorter ones
// that they begin with.
var operatorSymbols = [...]string{
	`""`, "()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", "<", ">", ",",
}

// operatorWords are other spellings of operators.
var operatorWords = map[string]string{
	"and": "&&", "or": "||", "not": "!", "compl": "~", "xor": "^", "bitand": "&", "bitor": "|",
	"and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!=",
}

// operator reads the rest of a name after the word operator, unless the name is a conversion, which
// ends with a type.
func (d *scanner) operator() {
	rest := bytes.TrimLeft(d.text[d.pos:], " \t\r\n")
	from := len(d.text) - len(rest)
	if n := wordLength(rest); n > 0 {
		if d.allocation(rest[:n], from+n) {
			return
		}
		if symbol, ok := operatorWords[string(rest[:n])]; ok {
			d.named(symbol, from+n)
		}
		return
	}
	if symbol, after := bracketPair(rest); symbol != "" {
		d.named(symbol, len(d.text)-len(after))
		return
	}
	for _, symbol := range operatorSymbols {
		if bytes.HasPrefix(rest, []byte(symbol)) {
			d.named(symbol, from+len(symbol))
			return
		}
	}
}

// bracketPair returns the pair of parentheses or brackets at the beginning of a text, and the text
// after it.
func bracketPair(text []byte) (pair string, after []byte) {
	for _, spelled := range [...]string{"()", "[]", "<::>"} {
		half := len(spelled) / 2
		after, ok := bytes.CutPrefix(text, []byte(spelled[:half]))
		if !ok {
			continue
		}
		if after, ok = bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(spelled[half:])); ok {
			if half > 1 {
				spelled = "[]"
			}
			return spelled, after
		}
	}
	return "", nil
}

// named takes the name of an operator that ends at a position.
func (d *scanner) named(symbol string, end int) {
	d.pos, d.word = end, append([]byte("operator"), symbol...)
}

// wordLength returns the length of the word at the beginning of a text.
func wordLength(text []byte) int {
	n := 0
	for n < len(text) && wordBytes[text[n]] {
		n++
	}
	return n
}

// readWord reads an identifier. Escaped characters become the characters that a profile's names
// have.
func (d *scanner) readWord() []byte {
	start := d.pos
	d.pos += wordLength(d.text[d.pos:])
	word := d.text[start:d.pos:d.pos] // what is appended goes to a copy
	for n := escapedRune(d.text[d.pos:]); n > 0; n = escapedRune(d.text[d.pos:]) {
		word = utf8.AppendRune(word, runeOf(d.text[d.pos:d.pos+n]))
		d.pos += n
		n = wordLength(d.text[d.pos:])
		word = append(word, d.text[d.pos:d.pos+n]...)
		d.pos += n
	}
	return word
}

// escapedRune returns the length of the escaped character at the beginning of a text: \u1234,
// \U00012345 or \u{1234}. It is 0 if there is none.
func escapedRune(text []byte) int {
	if len(text) < len(`\u{1}`) || text[0] != '\\' {
		return 0
	}
	n := len(`\u1234`)
	switch {
	case text[1] == 'u' && text[2] == '{':
		n = bytes.IndexByte(text[:min(len(text), maxEscape)], '}') + 1
	case text[1] == 'U':
		n = len(`\U00012345`)
	case text[1] != 'u':
		return 0
	}
	if n == 0 || n > len(text) || runeOf(text[:n]) == utf8.RuneError {
		return 0
	}
	return n
}

// maxEscape is how long an escaped character may be, zeros in front included.
const maxEscape = 32

// runeOf returns the character that is escaped.
func runeOf(escape []byte) rune {
	n, err := strconv.ParseUint(string(bytes.Trim(escape[len(`\u`):], "{}")), 16, 32)
	if err != nil || n > utf8.MaxRune {
		return utf8.RuneError
	}
	return rune(n)
}

// unescaped appends a C string with its escapes replaced. Only escapes of letters, digits and other
// characters of names are decoded. All others become a character that names do not contain.
func unescaped(to, text []byte) []byte {
	for len(text) > 0 {
		if text[0] != '\\' || len(text) == 1 {
			to, text = append(to, text[0]), text[1:]
			continue
		}
		if n := escapedRune(text); n > 0 {
			to, text = utf8.AppendRune(to, runeOf(text[:n])), text[n:]
			continue
		}
		digits, base := text[1:], 8
		switch text[1] {
		case 'x':
			digits, base = text[2:], 16
		case 'o':
			digits = text[2:]
		}
		braced := len(digits) > 0 && digits[0] == '{'
		if braced {
			digits = digits[1:]
		}
		n := digitsOf(digits, base)
		if base == 8 {
			n = min(n, 3)
		}
		v, err := strconv.ParseUint(string(digits[:n]), base, 8)
		if err != nil { // no number, as of a line end
			to, text = append(to, text[1]), text[2:]
			continue
		}
		to, text = append(to, byte(v)), digits[n:]
		if braced {
			text = bytes.TrimPrefix(text, []byte{'}'})
		}
	}
	return to
}

// digitsOf returns how many digits of a base a text begins with.
func digitsOf(text []byte, base int) int {
	n := 0
	for n < len(text) {
		if _, err := strconv.ParseUint(string(text[n:n+1]), base, 8); err != nil {
			break
		}
		n++
	}
	return n
}
