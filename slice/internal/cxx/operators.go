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

// allocation reads the rest of the name of operator new or delete, and returns whether it is one.
func (d *scanner) allocation(word []byte, end int) bool {
	if string(word) != "new" && string(word) != "delete" {
		return false
	}
	if pair, after := bracketPair(bytes.TrimLeft(d.Text[end:], " \t\r\n")); pair == "[]" {
		end = len(d.Text) - len(after)
	}
	d.Pos, d.word = end, []byte(Allocation)
	return true
}

// placed returns Placement for the name of an allocation whose parameters are a first one and
// "void *", and else the name.
func placed(name, parameters []byte) []byte {
	if string(name) != Allocation {
		return name
	}
	_, second, _ := bytes.Cut(parameters, []byte{','})
	pointer, ok := bytes.CutPrefix(bytes.TrimLeft(second, " \t\r\n"), []byte("void"))
	if !ok {
		return name
	}
	pointer, ok = bytes.CutPrefix(bytes.TrimLeft(pointer, " \t\r\n"), []byte{'*'})
	if pointer = bytes.TrimSpace(pointer); ok && cpp.WordLength(pointer) == len(pointer) {
		return []byte(Placement)
	}
	return name
}
