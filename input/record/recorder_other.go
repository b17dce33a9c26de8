//go:build !linux

package record

import (
	"context"
	"io"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// A Recorder samples a target.
type Recorder struct{}

// Open returns [ErrSystem].
func Open(Target, Options) (*Recorder, error) { return nil, ErrSystem }

// Event returns the event that is sampled.
func (r *Recorder) Event() Event { return Best }

// Head returns everything in the recording except its records.
func (r *Recorder) Head() *perfdata.Head { return nil }

// Warnings returns limitations of the recording.
func (r *Recorder) Warnings() []string { return nil }

// Run records until the target ends.
func (r *Recorder) Run(context.Context, io.Writer) (*Report, error) { return nil, ErrSystem }

// Close ends the recording.
func (r *Recorder) Close() error { return nil }
