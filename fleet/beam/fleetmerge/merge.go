// Package fleetmerge merges the profiles of a fleet on Apache Beam. The result equals that of afdo
// merge for the same inputs and rules, see package [github.com/go-afdo/afdo/fleet], but
// the work is distributed over the machines of a runner.
//
// [Merge] is the whole pipeline. [Inputs], [Read], [Sum], [Trim] and [Write] are its steps, for
// pipelines with other steps in between. The elements between steps are units of a profile: the
// path of the unit, and a version 4 file that contains only this unit.
package fleetmerge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo/fleet"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(*[]byte) bool, error](new(deadLetterFn))
}

// Options configure a merge.
type Options struct {
	Rules  fleet.Rules
	List   []fleet.Input
	Globs  []string // more inputs: each file is a separate host
	Trim   []string // flags of afdo merge that leave out parts of the result
	Output Output
	// DeadLetters is the path of a file that lists the inputs that could not be read, one per line
	// with the error. It is written if there are any.
	DeadLetters string
}

// DefaultShardBytes is the default of Output.ShardBytes.
const DefaultShardBytes = 4 << 20

// Merge adds the pipeline that merges the inputs and writes the result.
func Merge(s beam.Scope, o Options) error {
	switch {
	case len(o.List)+len(o.Globs) == 0:
		return errors.New("nothing to merge")
	case o.Output.Path == "" || o.DeadLetters == "":
		return errors.New("no output, or none for dead letters")
	}
	for _, path := range append([]string{o.Output.Path, o.DeadLetters}, o.Globs...) {
		fs, err := filesystem.New(context.Background(), path)
		if err != nil {
			return err
		}
		fs.Close()
	}
	if o.Output.ShardBytes == 0 {
		o.Output.ShardBytes = DefaultShardBytes
	}
	units, bad := Read(s, o.Rules, Inputs(s, o.Rules, o.List, o.Globs))
	sums, err := Trim(s, Sum(s, units), o.Trim)
	if err != nil {
		return err
	}
	Write(s, sums, o.Output)
	beam.ParDo0(s.Scope("DeadLetters"), &deadLetterFn{o.DeadLetters}, beam.Impulse(s), beam.SideInput{Input: bad})
	return nil
}

// A deadLetterFn writes the list of inputs that could not be read. If there are none, it removes
// the list of an earlier run.
type deadLetterFn struct {
	Path string
}

func (fn *deadLetterFn) ProcessElement(ctx context.Context, _ []byte, bad func(*[]byte) bool) error {
	var letters []string
	for letter := []byte(nil); bad(&letter); {
		letters = append(letters, string(letter))
	}
	if len(letters) == 0 {
		remove(ctx, fn.Path)
		return nil
	}
	slices.Sort(letters)
	return create(ctx, fn.Path, func(w io.Writer) error {
		for _, letter := range letters {
			if _, err := fmt.Fprintf(w, "%s\n", letter); err != nil {
				return err
			}
		}
		return nil
	})
}
