package fleetmerge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/fleet"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](new(expandFn))
	register.DoFn4x1[context.Context, []byte, func([]byte, []byte), func([]byte), error](new(readFn))
	register.Emitter1[[]byte]()
	register.Emitter2[[]byte, []byte]()
	register.Iter1[[]byte]()
}

// Inputs returns the groups of inputs that are merged before they are capped, see
// [fleet.Rules.Groups], as [Read] takes them: those of a list, and the files that globs match, each
// of which is a host by itself. A glob that matches nothing fails the pipeline.
func Inputs(s beam.Scope, rules fleet.Rules, list []fleet.Input, globs []string) beam.PCollection {
	s = s.Scope("Inputs")
	var groups [][]byte
	for _, numbers := range rules.Groups(list) {
		var group message
		for _, i := range numbers {
			appendInput(&group, &list[i])
		}
		groups = append(groups, group)
	}
	patterns := make([][]byte, len(globs))
	for i, glob := range globs {
		patterns[i] = []byte(glob)
	}
	listed := beam.CreateList(s, groups)
	matched := beam.ParDo(s, new(expandFn), beam.CreateList(s, patterns))
	return beam.Reshuffle(s, beam.Flatten(s, listed, matched))
}

func appendInput(m *message, in *fleet.Input) {
	m.string(in.Path)
	m.uint(in.Weight.Num)
	m.uint(in.Weight.Den)
	m.uint(0)
	if !in.Time.IsZero() {
		(*m)[len(*m)-1] = 1
		m.uint(uint64(in.Time.UnixNano()))
	}
}

func readInput(f *fields) fleet.Input {
	in := fleet.Input{Path: f.string(), Weight: profile.Ratio{Num: f.uint(), Den: f.uint()}}
	if f.uint() == 1 {
		in.Time = time.Unix(0, int64(f.uint()))
	}
	return in
}

// An expandFn makes groups of one input of the files that a glob matches.
type expandFn struct{}

func (*expandFn) ProcessElement(ctx context.Context, glob []byte, emit func([]byte)) error {
	fs, err := filesystem.New(ctx, string(glob))
	if err != nil {
		return err
	}
	defer fs.Close()
	paths, err := fs.List(ctx, string(glob))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s: no such file", glob)
	}
	for _, path := range paths {
		var group message
		appendInput(&group, &fleet.Input{Path: path})
		emit(group)
	}
	return nil
}

// Read reads groups of inputs, GCOV profiles of any version or their text. It returns the units of
// their sums, each element the path of a unit and its profile, and the inputs that cannot be read,
// each with what is wrong with it.
func Read(s beam.Scope, rules fleet.Rules, groups beam.PCollection) (units, bad beam.PCollection) {
	return beam.ParDo2(s.Scope("Read"), &readFn{Rules: rules}, groups)
}

// A readFn reads a group of inputs. It holds their sum, and one of them.
type readFn struct {
	Rules fleet.Rules
}

// forgotSources is what counts the hosts whose profiles remember their sources, which units alone
// have no place for.
const forgotSources = "hosts whose sources section was left out"

var forgottenSources = beam.NewCounter("afdo", forgotSources)

// ForgotSources reports whether inputs of a run had a section about their sources, which the result
// has not. Runners that tell no metrics do not tell that.
func ForgotSources(r metrics.Results) bool {
	found := r.Query(func(m metrics.SingleResult) bool { return m.Name() == forgotSources })
	return slices.ContainsFunc(found.Counters(), func(c metrics.CounterResult) bool { return c.Result() > 0 })
}

var skippedInputs = beam.NewCounter("afdo", "inputs that were skipped")

func (fn *readFn) ProcessElement(ctx context.Context, group []byte, unit func(path, part []byte), bad func([]byte)) error {
	host, skipped, err := fn.sum(ctx, group, false)
	if err != nil {
		return err
	}
	paths, parts, err := encodeParts(host)
	if errors.Is(err, afdo.ErrUnrepresentable) { // one of the inputs is at fault
		if host, skipped, err = fn.sum(ctx, group, true); err == nil {
			paths, parts, err = encodeParts(host)
		}
	}
	if err != nil {
		return err
	}
	for _, letter := range skipped {
		skippedInputs.Inc(ctx, 1)
		bad(letter)
	}
	if host != nil && host.HasMarks() {
		forgottenSources.Inc(ctx, 1)
	}
	for i, part := range parts {
		unit(paths[i], part)
	}
	return nil
}

// sum merges the inputs of a group, but for those that cannot be read. They also have to fit the
// format if that is asked for. Of no inputs there is no sum.
func (fn *readFn) sum(ctx context.Context, group []byte, fit bool) (host *profile.Profile, skipped [][]byte, err error) {
	for f := fieldsOf(group); f.Rest() > 0; {
		in := readInput(&f)
		if f.Err != nil {
			return nil, nil, f.err()
		}
		p, weight, err := fn.load(ctx, &in)
		if err == nil && fit {
			_, err = encodePart(p)
		}
		if err != nil {
			skipped = append(skipped, fmt.Appendf(nil, "%s: %v", in.Path, err))
			continue
		}
		if host == nil {
			host = profile.New()
		}
		host.MergeScaled(p, weight)
	}
	if host == nil {
		return nil, skipped, nil
	}
	if most := fn.Rules.Cap(host); most.Num != most.Den {
		capped := profile.New()
		capped.MergeScaled(host, most)
		host = capped
	}
	return host, skipped, nil
}

// load reads an input and tells what it counts for.
func (fn *readFn) load(ctx context.Context, in *fleet.Input) (*profile.Profile, profile.Ratio, error) {
	fs, err := filesystem.New(ctx, in.Path)
	if err != nil {
		return nil, profile.Ratio{}, err
	}
	defer fs.Close()
	if err := fn.findTime(ctx, fs, in); err != nil {
		return nil, profile.Ratio{}, err
	}
	weight, err := fn.Rules.Weight(in)
	if err != nil {
		return nil, profile.Ratio{}, err
	}
	file, err := fs.OpenRead(ctx, in.Path)
	if err != nil {
		return nil, profile.Ratio{}, err
	}
	defer file.Close()
	opened, err := anyprof.Read(ctx, file)
	if err != nil {
		return nil, profile.Ratio{}, err
	}
	defer opened.Close()
	p, err := opened.GCOV()
	return p, weight, err
}

// findTime gives an input of which the list tells no time that of its file.
func (fn *readFn) findTime(ctx context.Context, fs filesystem.Interface, in *fleet.Input) (err error) {
	if fn.Rules.HalfLife == 0 || !in.Time.IsZero() {
		return nil
	}
	if dated, ok := fs.(filesystem.LastModifiedGetter); ok {
		in.Time, err = dated.LastModified(ctx, in.Path)
	}
	return err
}
