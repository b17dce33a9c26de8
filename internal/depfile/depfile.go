// Package depfile reads the dependency files that compilers write with -MD for make: which files a
// compile has read.
package depfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// errDepfile is wrapped by the errors of [Prerequisites].
var errDepfile = errors.New("not a dependency file")

// continued replaces a backslash and the end of the line after it, which continue a line. No
// dependency file contains this character.
const continued = "\x00"

// blanks are the characters that separate words.
const blanks = " \t\r" + continued

// continuation replaces what continues a line by the character continued.
var continuation = strings.NewReplacer("\\\r\n", continued, "\\\n", continued)

// Prerequisites returns the prerequisites of all rules in a dependency file, in order, each once.
// For a compile, they are the files that it has read.
//
// It parses what compilers write for make and ninja: rules, comments, lines that a backslash
// continues, "\ " and "\#" for a blank and a number sign in a path, and "$$" for a dollar sign. A
// backslash before anything else is literal. A colon ends the targets of a rule only before white
// space, so paths of Windows are parsed, too.
func Prerequisites(data []byte) ([]string, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, fmt.Errorf("%w: a NUL at byte %d", errDepfile, i)
	}
	var all []string
	seen := make(map[string]bool)
	number := 1
	for line := range strings.SplitSeq(continuation.Replace(string(data)), "\n") {
		names, fault := parseRule(line)
		if fault != "" {
			return nil, fmt.Errorf("%w: line %d has %s", errDepfile, number, fault)
		}
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
		number += 1 + strings.Count(line, continued)
	}
	return all, nil
}

// parseRule returns the prerequisites of the rule in a line. There are none if the line is empty, a
// comment, or an assignment. fault is not empty if the line is none of these.
func parseRule(line string) (prerequisites []string, fault string) {
	var words []string
	colon := false
	for {
		switch line = strings.TrimLeft(line, blanks); {
		case (line == "" || line[0] == '#') && colon:
			return words, ""
		case line == "" || line[0] == '#':
			if len(words) > 0 && !isAssignment(words) {
				return nil, "no colon"
			}
			return nil, ""
		case !endsTargets(line):
			var word string
			word, line = cutWord(line)
			words = append(words, word)
		case colon || len(words) == 0:
			return nil, "a colon without a target"
		default:
			words, colon, line = nil, true, line[1:]
		}
	}
}

// isAssignment reports whether a line assigns a make variable, as GCC writes it for C++ modules.
func isAssignment(words []string) bool {
	return len(words) > 1 && (words[1] == "=" || words[1] == "+=")
}

// endsTargets reports whether a text begins with a colon that ends the targets of a rule.
func endsTargets(text string) bool {
	return text[0] == ':' && (len(text) == 1 || strings.IndexByte(blanks, text[1]) >= 0)
}

// cutWord returns the word at the beginning of a text, with its escapes decoded, and the rest of
// the text.
func cutWord(text string) (string, string) {
	var word []byte
	for text != "" && !endsTargets(text) && strings.IndexByte(blanks, text[0]) < 0 {
		rest := strings.TrimLeft(text, `\`)
		n, next := len(text)-len(rest), byte(0)
		if rest != "" {
			next = rest[0]
		}
		switch {
		case strings.HasPrefix(text, "$$"), n == 1 && (next == '#' || next == ':'):
			word, text = append(word, text[1]), text[2:]
		case n > 0 && (next == ' ' || next == '\t'): // each pair is one backslash, and an odd one escapes the blank
			word, text = append(word, text[:n/2]...), rest
			if n%2 == 1 {
				word, text = append(word, next), rest[1:]
			}
		case n > 1 && next == '#':
			word, text = append(word, text[:n-1]...), text[n-1:]
		default:
			word, text = append(word, text[:max(n, 1)]...), text[max(n, 1):]
		}
	}
	return string(word), text
}
