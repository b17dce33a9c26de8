// Package compdb reads compilation databases, compile_commands.json, as CMake, Meson and Bear write
// them.
package compdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// An Entry is one command of a compilation database.
type Entry struct {
	Directory string   // folder in which the command runs
	File      string   // path of the source, as it is in the database
	Args      []string // the command and its arguments
}

// Parse reads a compilation database. The commands may be lists of arguments or lines for a shell.
// dir is the folder of the database. Folders in the database that are not absolute are relative to
// dir.
func Parse(data []byte, dir string) ([]Entry, error) {
	var list []struct {
		Directory, File, Command string
		Arguments                []string
	}
	err := json.Unmarshal(data, &list)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil, fmt.Errorf("not a compilation database: unexpected JSON %s before byte %d", other.Value, other.Offset)
	}
	if err != nil {
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
		entries = append(entries, Entry{Directory: e.Directory, File: e.File, Args: args})
	}
	return entries, nil
}

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
