// Package fleetmerge merges the profiles of a fleet on Apache Beam. The result equals that of afdo
// merge for the same inputs and rules, see [Rules], but
// the work is distributed over the machines of a runner.
//
// [Merge] is the whole pipeline. [Inputs], [Read], [Sum], [Trim] and [Write] are its steps, for
// pipelines with other steps in between. The elements between steps are units of a profile: the
// path of the unit, and a version 4 file that contains only this unit.
package fleetmerge

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(*[]byte) bool, error](new(deadLetterFn))
}

// An Input is a profile of one host: its Path, the name of its Host, its Weight and the Time of the
// recording. Only the path is required.
type Input = fleet.Input

// Rules determine the weight of each input. Scale is a factor for every weight. An input's weight
// halves with every HalfLife of its age at AsOf. HostCap limits the samples of a host.
type Rules = fleet.Rules

// Options are the options of [Merge].
type Options struct {
	Rules  Rules
	List   []Input
	Globs  []string // more inputs: each file is a separate host
	Trim   []string // flags of afdo merge that leave out parts of the result
	Output Output
	// DeadLetters is the path of a file that lists the inputs that could not be read, one per line
	// with the error. It is written if there are any.
	DeadLetters string
}

// DefaultShardBytes is the default of Output.ShardBytes.
const DefaultShardBytes = 4 << 20

// Merge adds to scope s the steps that merge the inputs and write the result.
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
	o.Output.ShardBytes = cmp.Or(o.Output.ShardBytes, DefaultShardBytes)
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

// create writes a file that appears completely or not at all. If the file system can rename files,
// it writes to a temporary name. Object stores that cannot rename show an object only when it is
// complete; if the writer's context ends before Close, nothing appears.
func create(ctx context.Context, path string, write func(io.Writer) error) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	renamer, ok := fs.(filesystem.Renamer)
	name := path
	if ok {
		name += ".tmp-" + rand.Text()
	}
	if err := writeFile(ctx, fs, name, write); err != nil {
		if ok {
			remove(ctx, name)
		}
		return err
	}
	if ok {
		return renamer.Rename(ctx, name, path)
	}
	return nil
}

// writeFile writes a file. It closes the file only if everything has been written.
func writeFile(ctx context.Context, fs filesystem.Interface, path string, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file, err := fs.OpenWrite(ctx, path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		cancel()
		_ = file.Close()
		return err
	}
	return file.Close()
}

// remove removes a file that is no longer needed. It ignores errors, since a leftover file does no
// harm.
func remove(ctx context.Context, path string) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return
	}
	defer fs.Close()
	if remover, ok := fs.(filesystem.Remover); ok {
		_ = remover.Remove(ctx, path)
	}
}

// An inputSum holds the sum of the profiles that a worker has read, and the errors of inputs that
// the worker could not read.
type inputSum struct {
	groups  [][]byte         // encoded groups of the inputs
	sum     *profile.Profile // nil if no input could be read
	largest int              // maximum number of symbols in a single addend
	skipped [][]byte         // messages about the inputs that were skipped
	forgot  int64            // number of inputs with a sources section
}

// add adds a profile to the sum, with all counts multiplied by weight. The profile is that of one
// input or the sum of a host.
func (h *inputSum) add(p *profile.Profile, weight profile.Ratio) {
	if h.sum == nil {
		h.sum = profile.New()
	}
	h.sum.MergeScaled(p, weight)
	h.largest = max(h.largest, p.NumSymbols())
}

// enoughSymbols is the number of symbols of a sum that takes about 50 MB of memory. Symbols of real
// profiles have 20 to 30 records.
const enoughSymbols = 1 << 16

// isLarge reports whether the worker should emit the sum and begin a new one: the sum has more than
// enoughSymbols symbols and more than twice as many as the largest input.
func (h *inputSum) isLarge() bool {
	return h.sum != nil && h.sum.NumSymbols() > max(enoughSymbols, 2*h.largest)
}

func init() {
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte, []byte), error](new(sumFn))
}

// Sum sums the units that [Read] returns. The result has one element per path. Sum does not combine
// units before it groups them by path. So a worker holds the sum of one unit in memory, and not the
// sums of all units in its bundle.
func Sum(s beam.Scope, units beam.PCollection) beam.PCollection {
	s = s.Scope("Sum")
	return beam.ParDo(s, new(sumFn), beam.GroupByKey(s, units))
}

// A sumFn adds up all profiles of one unit, which come from different workers.
type sumFn struct{}

func (*sumFn) ProcessElement(path []byte, parts func(*[]byte) bool, emit func(path, sum []byte)) error {
	sum, err := sumParts(parts)
	if err != nil {
		return err
	}
	data, err := encodePart(sum)
	if err != nil {
		return err
	}
	emit(path, data)
	return nil
}
