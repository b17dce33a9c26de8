package verb

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/internal/cli"
)

// WrittenFacts is what --json says of a file that a verb has written.
type WrittenFacts struct {
	Output  string         `json:"output"`
	Format  string         `json:"format,omitempty"`
	Size    int64          `json:"size"`  // in bytes
	Notes   []string       `json:"notes"` // what standard error says, such as what the format cannot hold
	Inputs  int            `json:"inputs,omitempty"`
	Skipped []SkippedFacts `json:"skipped,omitempty"`
}

// SkippedFacts is an input that was left out.
type SkippedFacts struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

func AddWrittenFlag(cmd *cobra.Command, json *bool) {
	cmd.Flags().BoolVar(json, "json", false, "say what was written as JSON on standard output")
}

// TellWritten calls write and, if json is set, prints the facts about the written file.
func (e *Env) TellWritten(json bool, path string, write func() error, facts func(f *WrittenFacts)) error {
	if !json {
		return write()
	}
	if path == cli.Stdio {
		return cli.Usagef("--json writes to standard output: name a file for the profile with -o")
	}
	f := &WrittenFacts{Output: path, Notes: []string{}}
	e.Notes = &f.Notes
	err := write()
	if err != nil && !errors.Is(err, cli.StatusError(cli.StatusPartial)) {
		return err
	}
	info, statErr := os.Stat(path)
	if statErr != nil {
		return statErr
	}
	f.Size = info.Size()
	facts(f)
	if err := output.JSON(e.Out, f); err != nil {
		return err
	}
	return err
}
