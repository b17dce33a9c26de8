// Package shell writes command lines as a shell reads them.
package shell

import "strings"

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

// Quote returns a word, in quotes unless all of it is plain.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns words as one line.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Fold breaks a line between its words, so that each line has at most width bytes unless a word is
// longer. A shell reads the result as it reads the line. The later lines begin with indent.
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
