package fleetmerge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](new(expandFn))
	register.DoFn4x1[context.Context, []byte, func([]byte, []byte), func([]byte), error](new(readFn))
	register.Emitter1[[]byte]()
	register.Emitter2[[]byte, []byte]()
	register.Iter1[[]byte]()
}

// Inputs returns groups of inputs for [Read]. If the rules limit the samples of a host, all inputs
// of a host are one group, because they are merged before the limit applies. Otherwise each input
// is a group. The inputs are those of a list and the files that match globs. Each of these files
// counts as a separate host. A glob without a match fails the pipeline.
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

// appendInput appends the encoding of an input to a message.
func appendInput(m *message, in *fleet.Input) {
	m.string(in.Path)
	m.uint(in.Weight.Num, in.Weight.Den, 0)
	if !in.Time.IsZero() {
		(*m)[len(*m)-1] = 1
		m.uint(uint64(in.Time.UnixNano()))
	}
}

// readInput decodes an input that appendInput has encoded.
func readInput(f *fields) fleet.Input {
	in := fleet.Input{Path: f.string(), Weight: profile.Ratio{Num: f.uint(), Den: f.uint()}}
	if f.uint() == 1 {
		in.Time = time.Unix(0, int64(f.uint()))
	}
	return in
}

// An expandFn finds the files that match a glob. It emits each file as an input from a host of its
// own.
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

// Read reads groups of inputs, which may be GCOV profiles of any version or in text form. It
// returns the units of their sums, each as a pair of path and profile, and the inputs that could
// not be read, each with the error.
//
// Read sums the groups of a bundle, so that fewer units are passed on. A worker keeps in memory one
// input, the sum of a host if hosts are capped, and the sum of several inputs. That sum is passed
// on when it has more than 65,536 symbols and more than twice as many as the largest input. Groups
// must be in the global window.
func Read(s beam.Scope, rules fleet.Rules, groups beam.PCollection) (units, bad beam.PCollection) {
	return beam.ParDo2(s.Scope("Read"), &readFn{Rules: rules}, groups)
}

// A readFn reads groups of inputs and emits the units of their sum.
type readFn struct {
	Rules fleet.Rules

	waiting inputSum // sum of this bundle that has not been emitted
}

// forgotSources is the name of the counter of inputs with a sources or an evidence section, which
// single units cannot hold.
const forgotSources = "inputs whose sources section was left out"

var forgottenSources = beam.NewCounter("afdo", forgotSources)

// ForgotSources reports whether inputs of a run had a sources or an evidence section, which the
// result does not have. It returns false for runners without metrics.
func ForgotSources(r metrics.Results) bool {
	found := r.Query(func(m metrics.SingleResult) bool { return m.Name() == forgotSources })
	return slices.ContainsFunc(found.Counters(), func(c metrics.CounterResult) bool { return c.Result() > 0 })
}

var skippedInputs = beam.NewCounter("afdo", "inputs that were skipped")

func (fn *readFn) ProcessElement(ctx context.Context, group []byte, unit func(path, part []byte), bad func([]byte)) error {
	if err := fn.add(ctx, &fn.waiting, group, false); err != nil {
		return err
	}
	if fn.waiting.isLarge() {
		return fn.FinishBundle(ctx, unit, bad)
	}
	return nil
}

// FinishBundle emits the units of the sum of the profiles that were read, and the errors of inputs
// that could not be read.
func (fn *readFn) FinishBundle(ctx context.Context, unit func(path, part []byte), bad func([]byte)) error {
	all := fn.waiting
	fn.waiting = inputSum{}
	paths, parts, err := encodeParts(all.sum)
	if errors.Is(err, afdo.ErrUnrepresentable) { // one of the inputs causes this
		if all, err = fn.addFitting(ctx, all.groups); err == nil {
			paths, parts, err = encodeParts(all.sum)
		}
	}
	if err != nil {
		return err
	}
	skippedInputs.Inc(ctx, int64(len(all.skipped)))
	forgottenSources.Inc(ctx, all.forgot)
	for _, letter := range all.skipped {
		bad(letter)
	}
	for i, part := range parts {
		unit(paths[i], part)
	}
	return nil
}

// addFitting reads the given groups of inputs again and returns their sum. It leaves out the inputs
// that a version 4 file cannot hold.
func (fn *readFn) addFitting(ctx context.Context, groups [][]byte) (all inputSum, err error) {
	for _, group := range groups {
		if err := fn.add(ctx, &all, group, true); err != nil {
			return all, err
		}
	}
	return all, nil
}

// add adds the profiles of a group of inputs to the sum all. It skips inputs that cannot be read.
// If fit is set, it also skips inputs that a version 4 file cannot hold.
func (fn *readFn) add(ctx context.Context, all *inputSum, group []byte, fit bool) error {
	all.groups = append(all.groups, slices.Clone(group))
	host := all
	if fn.Rules.HostCap > 0 {
		host = new(inputSum)
	}
	for f := fieldsOf(group); f.Rest() > 0; {
		in := readInput(&f)
		if f.Err != nil {
			return f.err()
		}
		p, weight, err := fn.load(ctx, &in)
		if err == nil && fit {
			_, err = encodePart(p)
		}
		if err != nil {
			all.skipped = append(all.skipped, fmt.Appendf(nil, "%s: %v", in.Path, err))
			continue
		}
		if p.HasMarks() || p.Evidence() != nil {
			all.forgot++
		}
		host.add(p, weight)
	}
	if host != all && host.sum != nil {
		all.add(host.sum, fn.Rules.Cap(host.sum))
	}
	return nil
}

// load reads the profile of an input. It also returns the weight of the input.
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

// findTime sets the time of an input to its file's modification time, if the list has no time.
func (fn *readFn) findTime(ctx context.Context, fs filesystem.Interface, in *fleet.Input) (err error) {
	if fn.Rules.HalfLife == 0 || !in.Time.IsZero() {
		return nil
	}
	if dated, ok := fs.(filesystem.LastModifiedGetter); ok {
		in.Time, err = dated.LastModified(ctx, in.Path)
	}
	return err
}

// A message is an element of the pipeline: a sequence of varints and of strings with their lengths.
// Elements are bytes and not text, because paths and names need not be valid UTF-8.
type message []byte

func (m *message) uint(values ...uint64) {
	for _, v := range values {
		*m = binary.AppendUvarint(*m, v)
	}
}

func (m *message) string(s string) {
	m.uint(uint64(len(s)))
	*m = append(*m, s...)
}

var errMessage = errors.New("an element of the pipeline is not as it was encoded")

// A fields value decodes a [message].
type fields struct{ decode.Buffer }

func fieldsOf(data []byte) fields { return fields{decode.Buffer{Data: data}} }

// err returns errMessage if the decoded message is malformed, and nil otherwise.
func (f *fields) err() error {
	return f.Error(func(*decode.Fault) error { return errMessage })
}

func (f *fields) uint() uint64 { return f.ULEB() }

// bytes decodes a string of the message without copying it.
func (f *fields) bytes() []byte { return f.Take(f.ULEB(), "a string") }

func (f *fields) string() string { return string(f.bytes()) }

// encodePart encodes the profile of a unit as a compact version 4 file with an empty summary.
func encodePart(p *profile.Profile) ([]byte, error) {
	p.Summary = new(afdo.Summary)
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// decodePart decodes a profile that encodePart has encoded.
func decodePart(data []byte) (*profile.Profile, error) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return profile.Read(r)
}

// sumParts adds up the profiles of a unit, which come from several inputs. parts yields the encoded
// profiles. sumParts keeps the sum and one of the profiles in memory at a time.
func sumParts(parts func(*[]byte) bool) (*profile.Profile, error) {
	sum := profile.New()
	for part := []byte(nil); parts(&part); {
		p, err := decodePart(part)
		if err != nil {
			return nil, fmt.Errorf("part of a unit: %w", err)
		}
		sum.Merge(p)
	}
	return sum, nil
}

// encodeParts encodes each unit of a profile as a file of its own. paths has the path of each unit,
// and parts its file. For a nil profile, both are empty.
func encodeParts(p *profile.Profile) (paths, parts [][]byte, err error) {
	if p == nil {
		return nil, nil, nil
	}
	for f, part := range p.Split() {
		data, err := encodePart(part)
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, []byte(p.UnitPath(f)))
		parts = append(parts, data)
	}
	return paths, parts, nil
}
