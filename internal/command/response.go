package command

import "strings"

// SplitWords splits the content of a response file, or a command line that GCC prints with -###,
// into arguments, as GCC does. Blanks separate arguments; both kinds of quotes and backslashes can
// quote them. Within single quotes a backslash is an ordinary character. A missing closing quote is
// not an error.
//
// unclear reports whether versions of compilers split a response file with this content into
// different words. GCC before version 16 and clang remove each backslash. GCC 16 keeps most
// backslashes within quotes, and removes one at the end of a line together with the line's end.
func SplitWords(text string) (words []string, unclear bool) {
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c, next := text[i], byte('\n')
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '\\':
			unclear = unclear || quote == '\'' || quote == '"' && next != '"' && next != '\\' || quote == 0 && next == '\n'
			if quote != '\'' && i+1 < len(text) {
				i, c = i+1, next
			}
			word.WriteByte(c)
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
	return words, unclear
}
