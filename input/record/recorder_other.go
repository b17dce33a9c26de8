//go:build !linux

package record

import (
	"context"
	"errors"
	"io"
)

// A Recorder samples a target.
type Recorder struct{}

// errSystem: this system is not Linux.
var errSystem = errors.New("only Linux records samples this way")

// Open returns an error.
func Open(Target, Options) (*Recorder, error) { return nil, errSystem }

// Event returns the name of the event that is sampled.
func (r *Recorder) Event() string { return "" }

// WriteHead writes what comes before the records of a stream.
func (r *Recorder) WriteHead(io.Writer) error { return errSystem }

// WriteFile writes perf.data.
func (r *Recorder) WriteFile(io.Writer, io.Reader, int64) error { return errSystem }

// Warnings returns limitations of the recording.
func (r *Recorder) Warnings() []string { return nil }

// Run records until the target ends.
func (r *Recorder) Run(context.Context, io.Writer) (*Report, error) { return nil, errSystem }

// Close ends the recording.
func (r *Recorder) Close() error { return nil }
