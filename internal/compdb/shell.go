package compdb

import (
	"errors"
	"strings"
)

// splitShell splits a command line into words as a POSIX shell does, for compilation databases. It
// knows blanks, single and double quotes, and backslashes. All other characters are ordinary:
// splitShell does not replace variables, patterns or commands.
func splitShell(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open := false // a word has begun, maybe an empty one in quotes
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, errQuote
			}
			word.WriteString(line[i+1 : i+1+end])
			i += 1 + end
			open = true
		case '"':
			end, err := doubleQuoted(line[i+1:], &word)
			if err != nil {
				return nil, err
			}
			i += 1 + end
			open = true
		case '\\':
			i++
			if i == len(line) {
				return nil, errors.New("trailing backslash")
			}
			if line[i] != '\n' {
				word.WriteByte(line[i])
				open = true
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

var errQuote = errors.New("unterminated quote")

// doubleQuoted reads what is in double quotes and returns where they end.
func doubleQuoted(s string, word *strings.Builder) (end int, err error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i, nil
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`\n", s[i+1]) >= 0:
			i++
			if s[i] != '\n' {
				word.WriteByte(s[i])
			}
		default:
			word.WriteByte(s[i])
		}
	}
	return 0, errQuote
}
