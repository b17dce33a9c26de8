package memprof

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/pattern"
)

// Unquoted scalars that YAML reads as something else than a string, such as a number or true.
var (
	notStrings = []string{"null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN"}
	numeric    = pattern.Of(`^(0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.inf|\.Inf|\.INF|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?))$`)
)

// A quoting is the kind of quotes that a string needs in YAML: none, single or double.
type quoting uint8

const (
	plain quoting = iota
	single
	double
)

// quotingOf returns the quotes that LLVM would put around a string in YAML.
func quotingOf(s string) quoting {
	need := plain
	if s == "" || strings.ContainsAny(s[:1]+s[len(s)-1:], " \t\n\v\f\r") || strings.ContainsAny(s[:1], "-?:\\,[]{}#&*!|>'\"%@`") ||
		slices.Contains(notStrings, s) || numeric().MatchString(s) {
		need = single
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-^., \t", c) >= 0:
		case c == '\n' || c == '\r':
			need = single
		case c < 0x20 || c >= 0x7f:
			return double
		default:
			need = single
		}
	}
	return need
}

// appendScalar appends a string to a line of YAML, with quotes if it needs them.
func appendScalar(line []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return line, unrepresentable("the name %q, which is not UTF-8, in YAML", s)
	}
	switch quotingOf(s) {
	case plain:
		return append(line, s...), nil
	case single:
		return append(append(append(line, '\''), strings.ReplaceAll(s, "'", "''")...), '\''), nil
	}
	line = append(line, '"')
	for _, r := range s {
		line = appendEscaped(line, r)
	}
	return append(line, '"'), nil
}

// escapes maps characters to the letter after the backslash in double quotes.
var escapes = map[rune]byte{
	'\\': '\\', '"': '"', 0: '0', '\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', 0x1b: 'e',
	0x85: 'N', 0xa0: '_', 0x2028: 'L', 0x2029: 'P',
}

func appendEscaped(line []byte, r rune) []byte {
	switch c, ok := escapes[r]; {
	case ok:
		return append(line, '\\', c)
	case r == 0x7f || r >= 0x20 && unicode.IsPrint(r):
		return utf8.AppendRune(line, r)
	case r <= 0xff:
		return fmt.Appendf(line, `\x%02X`, r)
	case r <= 0xffff:
		return fmt.Appendf(line, `\u%04X`, r)
	default:
		return fmt.Appendf(line, `\U%08X`, r)
	}
}
