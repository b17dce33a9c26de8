// Package shell writes command lines as a shell reads them.
package shell

import "strings"

// plain are the characters that a shell does not treat specially.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

// Quote returns a word in the form in which a shell reads it as one word: as it is, or in single
// quotes if it has a character that is special to a shell.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns a command line that a shell splits into the given words.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Fold breaks a command line between its words into lines of at most width bytes, or more if a
// single word is longer. All lines but the last end with a backslash, so a shell reads the result
// like the original line. All lines but the first begin with indent.
func Fold(line, indent string, width int) string {
	var folded strings.Builder
	column, start, quote := 0, 0, byte(0)
	for i := 0; i <= len(line); i++ {
		switch {
		case i == len(line) || quote == 0 && line[i] == ' ':
			word := line[start:i]
			switch {
			case start > 0 && column+len(word)+len("  \\") > width:
				folded.WriteString(" \\\n" + indent)
				column = len(indent)
			case start > 0:
				folded.WriteByte(' ')
				column++
			}
			folded.WriteString(word)
			column, start = column+len(word), i+1
		case line[i] == '\\' && quote != '\'' && i+1 < len(line):
			i++
		case quote == line[i]:
			quote = 0
		case quote == 0 && (line[i] == '\'' || line[i] == '"'):
			quote = line[i]
		}
	}
	return folded.String()
}
