package compdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// An Entry is one command of a compilation database, compile_commands.json.
type Entry struct {
	Directory string   // in which it runs
	File      string   // the source, as the database has it
	Output    string   // what it makes, as the database has it; empty if that does not say
	Args      []string // the command and its arguments
}

// Parse reads a compilation database. The commands may be lists of arguments or lines for a
// shell. Folders that are not absolute are of the folder dir, which is the database's own.
func Parse(data []byte, dir string) ([]Entry, error) {
	var list []struct {
		Directory, File, Output, Command string
		Arguments                        []string
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("not a compilation database: %w", err)
	}
	entries := make([]Entry, 0, len(list))
	for i, e := range list {
		args := e.Arguments
		if len(args) == 0 {
			var err error
			if args, err = splitShell(e.Command); err != nil {
				return nil, fmt.Errorf("command %d, %s: %w", i+1, e.File, err)
			}
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("command %d, %s: the command is empty", i+1, e.File)
		}
		if !filepath.IsAbs(e.Directory) {
			e.Directory = filepath.Join(dir, e.Directory)
		}
		entries = append(entries, Entry{Directory: e.Directory, File: e.File, Output: e.Output, Args: args})
	}
	return entries, nil
}

// splitShell splits a command line the way a POSIX shell does, as far as compilation databases use
// one: blanks, both kinds of quotes, backslashes. Variables and the rest stand for themselves.
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
