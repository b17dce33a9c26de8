package instrprofkind

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/llvm/instrprof"
	"github.com/go-afdo/afdo/profile"
)

var errTrim = errors.New("instrumentation profiles cannot be trimmed")

// gcPercent is how far the heap may grow beyond what is in use: a profile is large and has few
// pointers, so that looking through it costs next to nothing.
const gcPercent = 20

// Convert writes a file in a format of the kind.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if t.Any() {
		return errTrim
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	var memory memorySections
	if err := memory.add(p.file, 1); err != nil {
		return err
	}
	if err := k.write(e, out, p.Profile, &memory); err != nil {
		return err
	}
	doing.Stop()
	memory.tell(e, out.Format.Name)
	return nil
}

// Merge writes the sum of files.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if m.Trim.Any() {
		return errTrim
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	inputs := make([]instrprof.Input, len(m.Weights))
	var memory memorySections
	for i, weight := range m.Weights {
		if err := addInput(m, &inputs[i], i, weight, &memory); err != nil {
			return err
		}
	}
	c, err := k.correlation()
	if err != nil {
		return err
	}
	p, dropped, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{
		Correlation: c,
		Progress:    func(n int) { m.Say("merging %d profiles, %d read", len(inputs), n) },
	})
	if err != nil {
		return hint(err)
	}
	m.Say("writing %s", m.Out.Format.Name)
	if err := k.write(e, m.Out, p, &memory); err != nil {
		return err
	}
	byFile := make([]mismatches, len(inputs))
	for _, d := range dropped {
		byFile[d.Input].add(d.Err)
	}
	for i, in := range inputs {
		byFile[i].tell(e, in.Path)
	}
	memory.tell(e, m.Out.Format.Name)
	return nil
}

// addInput finds out how to open an input as often as it takes, and adds its MemProf section.
func addInput(m *kind.Merge, in *instrprof.Input, i int, weight profile.Ratio, memory *memorySections) error {
	if weight.Den == 0 || weight.Num%weight.Den != 0 || weight.Num == 0 {
		return cli.Usagef("instrumentation profiles have whole weights of at least 1, not %d/%d", weight.Num, weight.Den)
	}
	f, err := m.Open(i)
	if err != nil {
		return err
	}
	defer f.Close()
	*in = instrprof.Input{Path: f.Name, Weight: weight.Num / weight.Den}
	switch {
	case f.Path() != "":
		in.Path = f.Path()
	case f.Name == input.StdinName:
		data, err := io.ReadAll(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		in.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		if f, err = input.New(f.Name, bytes.NewReader(data)); err != nil {
			return err
		}
	default: // it is compressed, or of a server
		in.Open = func() (io.ReadCloser, error) {
			again, err := input.Open(nil, in.Path)
			return closer{again}, err
		}
	}
	if f.Format() != anyprof.ProfData {
		return nil // only these have a section
	}
	p, err := f.Profile()
	if err == nil {
		err = memory.add(p, in.Weight)
	}
	return f.Wrap(err)
}

// closer makes the Close of a file one that returns an error.
type closer struct{ *input.File }

// Close closes the file.
func (c closer) Close() error {
	c.File.Close()
	return nil
}
