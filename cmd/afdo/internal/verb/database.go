package verb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/compdb"
)

// A BuildCommand is a command of a build, without what starts it.
type BuildCommand struct {
	*command.Line
	Launched bool // "afdo exec" was before it
}

func ParseBuildCommand(argv []string, dir string) BuildCommand {
	argv, launched := driver.CutExec(argv)
	return BuildCommand{command.Parse(argv, dir), launched}
}

// Inputs finds what the command reads.
func (c *BuildCommand) Inputs(ctx context.Context, cache *driver.Cache) (*driver.Inputs, error) {
	compiler, err := driver.FindCompiler(ctx, c.Line, cache)
	if err != nil {
		return nil, err
	}
	return driver.FindInputs(ctx, c.Line, compiler, cache)
}

// ReadDatabase returns the commands of a compilation database that compile something, at least one,
// and the folder that it is in.
func ReadDatabase(path string) (commands []BuildCommand, folder string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if folder, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, "", err
	}
	entries, err := compdb.Parse(data, folder)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", human.Name(path), err)
	}
	for _, entry := range entries {
		if c := ParseBuildCommand(entry.Args, entry.Directory); c.Reason == "" {
			commands = append(commands, c)
		}
	}
	if len(commands) == 0 {
		return nil, "", fmt.Errorf("%s: none of %s compiles anything", human.Name(path), human.Counted(len(entries), "command"))
	}
	return commands, folder, nil
}
