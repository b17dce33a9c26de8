package compdb

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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
