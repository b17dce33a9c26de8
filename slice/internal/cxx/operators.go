package cxx

import (
	"bytes"

	"github.com/go-afdo/afdo/internal/cpp"
)

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
	rest := bytes.TrimLeft(d.Text[d.Pos:], " \t\r\n")
	from := len(d.Text) - len(rest)
	if n := cpp.WordLength(rest); n > 0 {
		if d.allocation(rest[:n], from+n) {
			return
		}
		if symbol, ok := operatorWords[string(rest[:n])]; ok {
			d.named(symbol, from+n)
		}
		return
	}
	if symbol, after := bracketPair(rest); symbol != "" {
		d.named(symbol, len(d.Text)-len(after))
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
	d.Pos, d.word = end, append([]byte("operator"), symbol...)
}
