package command

import (
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

// unclearBackslash matches the content of a response file that versions of compilers split into
// different words. It has a backslash in a quoted word, other than before a double quote or a
// backslash within double quotes, or a backslash at the end of a line. GCC before version 16 and
// clang remove each backslash. GCC 16 keeps most backslashes within quotes, and removes one at the
// end of a line together with the line's end.
var unclearBackslash = pattern.Of(`^(?:[^'"\\]|\\[^\n]|"(?:[^"\\]|\\["\\])*"|'[^'\\]*')*(?:"(?:[^"\\]|\\["\\])*\\(?:[^"\\]|$)|'[^'\\]*\\|\\(?:\n|$))`)

// SplitWords splits the content of a response file, or a command line that GCC prints with -###,
// into arguments, as GCC does. Blanks separate arguments; both kinds of quotes and backslashes can
// quote them. Within single quotes a backslash is an ordinary character. A missing closing quote is
// not an error.
func SplitWords(text string) []string {
	var words []string
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != '\'' && c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			open = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case strings.IndexByte(" \t\n\r\v\f", c) >= 0:
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}
