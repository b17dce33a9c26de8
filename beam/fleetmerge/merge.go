// Package fleetmerge merges the profiles of a fleet on Apache Beam: it makes the bytes that afdo
// merge makes of the same inputs by the same rules, see package
// [github.com/go-afdo/afdo/fleet], on as many machines as a runner has.
//
// [Merge] is the whole pipeline. [Inputs], [Read], [Sum], [Trim] and [Write] are its steps, for
// pipelines that have others between them. What goes from one to the next is the units of a
// profile: the path of each, and a version 4 file that holds this unit alone.
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

// Options say what is merged.
type Options struct {
	Rules  fleet.Rules
	List   []fleet.Input
	Globs  []string // more inputs: files, each a host by itself
	Trim   []string // flags of afdo merge that leave something out of the result
	Output Output
	// DeadLetters is a file that names the inputs that could not be read, one a line, each with
	// what is wrong with it. It is written if there are any.
	DeadLetters string
}

// DefaultShardBytes is how large shards are if nothing else is asked for.
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

// A deadLetterFn writes the list of the inputs that could not be read. A list from an earlier
// run is removed.
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
