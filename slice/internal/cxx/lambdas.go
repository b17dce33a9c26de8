package cxx

import (
	"bytes"
	"slices"
	"strings"
)

// maxCaptures is how many bytes are looked at for the end of what a lambda captures.
const maxCaptures = 1 << 12

// beginsLambda reports whether a bracket, with some text behind it, may be the first one of a
// lambda: neither an index nor the size of an array, an attribute or a designator of C.
func (d *scanner) beginsLambda(behind []byte) bool {
	switch d.prev {
	case wordToken:
		if !precedesExpression(d.word) {
			return false
		}
	case ')', ']', '[', '"', '\'', '0':
		return false
	}
	if behind = bytes.TrimLeft(behind, " \t\r\n"); len(behind) > 0 && behind[0] == '[' {
		return false
	}
	rest, ok := behindBracket(behind)
	if !ok {
		return true
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) == 0 || bytes.IndexByte([]byte("=.["), rest[0]) < 0 || bytes.HasPrefix(rest, []byte("[["))
}

// precedesExpression reports whether a word is no operand that a bracket could index.
func precedesExpression(word []byte) bool {
	switch string(word) {
	case "return", "co_return", "co_yield", "co_await", "throw", "else", "do", "case", "sizeof", "in",
		"and", "or", "not", "xor", "bitand", "bitor", "compl", "and_eq", "or_eq", "xor_eq", "not_eq":
		return true
	}
	return false
}

// behindBracket returns what is behind the bracket that closes the one before a text. It is not ok
// if there is more between them than it understands.
func behindBracket(text []byte) (rest []byte, ok bool) {
	depth := 1
	for i, c := range text[:min(len(text), maxCaptures)] {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return text[i+1:], true
			}
		case '"', '\'', ';', '/':
			return nil, false
		}
	}
	return nil, false
}

// lambdaFunctions are the unqualified names of the functions of lambdas: what calls one, which a
// text may define for a class as well, and what one without captures converts to. Of those that
// are no templates, debug information has no more than that.
var lambdaFunctions = [...]string{"operator()", "_FUN"}

// IsOfLambda reports whether a function that is not mangled may be of a lambda, which a text has to
// have, or something else that defines a function of that unqualified name.
func IsOfLambda(unqualified string) bool { return slices.Contains(lambdaFunctions[:], unqualified) }

// Invoker is what clang calls the function that a lambda without captures converts to, _FUN to GCC.
// The C++ library has functions of that name, too.
const Invoker = "__invoke"

// IsOtherInvoke reports whether a mangled name is that of a function called __invoke that is of no
// lambda, which is $_0 or Ul..._ to clang.
func IsOtherInvoke(name string) bool {
	at := strings.LastIndex(name, "8"+Invoker)
	if at < 0 || KeyOf(name) != Invoker {
		return false
	}
	unnamed := strings.HasSuffix(strings.TrimRight(name[:at], "0123456789"), "$_")
	return !unnamed && !(strings.HasSuffix(name[:at], "_") && strings.Contains(name[:at], "Ul"))
}

// lambda takes note of the functions of a lambda.
func (d *scanner) lambda() {
	for _, name := range lambdaFunctions {
		d.notes.Function([]byte(name))
	}
}
