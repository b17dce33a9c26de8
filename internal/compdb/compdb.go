// Package compdb reads compilation databases, compile_commands.json, as CMake, Meson and Bear write
// them.
package compdb

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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
		entries = append(entries, Entry{Directory: e.Directory, File: e.File, Args: args})
	}
	return entries, nil
}
