package compdb

import (
	"errors"
	"strings"
)

// splitShell splits a command line into words as a POSIX shell does, for compilation databases. It
// knows blanks, single and double quotes, and backslashes. All other characters are ordinary:
// splitShell does not replace variables, patterns or commands.
func splitShell(line string) (words []string, err error) {
	var word []byte  // nil between words
	quote := byte(0) // the quote that is open, or 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'' && i+1 == len(line):
			return nil, errors.New("trailing backslash")
		case c == '\\' && (quote == 0 || quote == '"' && strings.IndexByte("\"\\$`\n", line[i+1]) >= 0):
			if i++; line[i] != '\n' {
				word = append(word, line[i])
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote, word = c, append([]byte{}, word...) // not nil, because the word may be empty
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			if word != nil {
				words, word = append(words, string(word)), nil
			}
		default:
			word = append(word, c)
		}
	}
	if quote != 0 {
		return nil, errors.New("unterminated quote")
	}
	if word != nil {
		words = append(words, string(word))
	}
	return words, nil
}
