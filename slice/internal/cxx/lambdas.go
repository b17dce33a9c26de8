package cxx

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
)

// maxCaptures is how many bytes are looked at for the end of what a lambda captures.
const maxCaptures = 1 << 12

// beginsLambda reports whether a bracket, followed by the text behind, may begin a lambda. It must
// not be an index, the size of an array, an attribute or a designator of C.
func (d *scanner) beginsLambda(behind []byte) bool {
	switch d.prev {
	case wordToken:
		if !cpp.PrecedesOperand(d.word) {
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

// behindBracket returns the text after the bracket that closes the bracket before text. ok is false
// if it does not understand what is between them.
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

// lambdaFunctions are the unqualified names of the functions of lambdas: the call operator, which a
// text may define for a class as well, and the target of the conversion of a lambda without
// captures. Debug info has only these names for lambdas that are not templates.
var lambdaFunctions = [...]string{"operator()", "_FUN"}

// IsOfLambda reports whether a function that is not mangled may be of a lambda, which a text has to
// have, or something else that defines a function of that unqualified name.
func IsOfLambda(unqualified string) bool { return slices.Contains(lambdaFunctions[:], unqualified) }

// Invoker is what clang calls the function that a lambda without captures converts to, _FUN to GCC.
// The C++ library has functions of that name, too.
const Invoker = "__invoke"

// IsOtherInvoke reports whether a mangled name is the name of a function called __invoke that does
// not belong to a lambda. Clang calls lambdas $_0 or Ul..._.
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
