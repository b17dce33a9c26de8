package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/command"
)

// ExecFacts is what exec has done for a command, in the form of its JSON.
type ExecFacts struct {
	Version   int            `json:"schema_version"`
	Directory string         `json:"directory"`
	Arguments []string       `json:"arguments"` // as in compile_commands.json
	Outcome   driver.Outcome `json:"outcome"`
	Reason    command.Reason `json:"reason,omitempty"`
	Slice     string         `json:"slice,omitempty"`
	Bytes     int64          `json:"bytes"`   // of the slice that were written
	Seconds   float64        `json:"seconds"` // before the command was run
	Error     string         `json:"error,omitempty"`
}

func newExecFacts(argv []string, dir string, start time.Time, plan *driver.Plan, err error) *ExecFacts {
	f := &ExecFacts{Version: jsonstream.Version, Directory: dir, Arguments: argv, Outcome: driver.OutcomeFailed, Seconds: time.Since(start).Seconds()}
	if err != nil {
		f.Error = cli.Message(err)
		return f
	}
	f.Outcome, f.Reason, f.Slice, f.Bytes = plan.Outcome, plan.Reason, plan.Slice, plan.Bytes
	return f
}

// appendTo appends a line to a file, in one write: compiles of a build run at the same time.
func (f *ExecFacts) appendTo(path string) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(jsonstream.EscapeBidi(line.Bytes()))
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
