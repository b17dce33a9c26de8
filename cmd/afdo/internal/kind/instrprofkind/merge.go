package instrprofkind

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Merge writes the sum of several instrumentation profiles.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if m.Trim.Any() {
		return errTrim
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	g := merging{Merge: m, k: k}
	defer func() { _ = os.RemoveAll(g.copies) }()
	if err := g.gather(); err != nil {
		return err
	}
	p, dropped, err := g.sum()
	if err != nil {
		return hint(err)
	}
	if err := m.Limit(g.counts(p, dropped)); err != nil {
		return err
	}
	m.Say("writing %s", m.Out.Format.Name)
	if err := k.write(e, m.Out, p, &g.memory); err != nil {
		return err
	}
	g.tell(e, dropped)
	return nil
}

// A merging is the state of a merge of instrumentation profiles. It has the inputs that could be
// opened.
type merging struct {
	*kind.Merge
	k      *Kind
	inputs []mergeInput
	copies string // folder with the copies of inputs that can be read only once, or "" if there are none
	memory memorySections
}

// A mergeInput is an input of a merge, and how the merge can open it several times.
type mergeInput struct {
	instrprof.Input
	number  int // index of the input among all inputs of the command line
	indexed bool
	left    bool   // the input is left out
	local   string // the file that is opened again: the input itself, or a copy
}

// gather opens each input once, to check it and to find out how it can be opened again. It leaves
// out inputs that cannot be opened, if the flags allow that.
func (g *merging) gather() error {
	times, err := g.Times(g.k)
	if err != nil {
		return err
	}
	for i := range g.Weights {
		in := mergeInput{number: i}
		in.Weight = times[i]
		if err = g.open(&in); err == nil {
			g.inputs = append(g.inputs, in)
		} else if !g.Skip(i, err) {
			return err
		}
	}
	return nil
}

// open checks an input and finds out how it can be opened again. It copies an input that can be
// read only once, such as a pipe. With --keep-going it also reads the input's MemProf section. So a
// damaged input is left out before any of it is added to the sum.
func (g *merging) open(in *mergeInput) error {
	f, err := g.Open(in.number)
	if err != nil {
		return err
	}
	defer f.Close()
	in.indexed = f.Format() == anyprof.ProfData
	in.Path, in.local = f.Name, f.Name
	if !f.Lasts() {
		if in.local, err = g.copyOf(f, in.number); err != nil {
			return f.Wrap(err)
		}
	}
	if f.Path() == "" {
		local := in.local
		in.Open = func() (io.ReadCloser, error) {
			again, err := input.Open(nil, local)
			return closer{again}, err
		}
	}
	if !in.indexed || !g.KeepGoing {
		return nil
	}
	return in.withProfile(func(p *anyprof.Profile) error { return new(memorySections).add(p, in.Weight) })
}

// copyOf copies an input that can be read only once, or is on a server, to a temporary file, and
// returns the path of that file. The copy is decompressed. number is the index of the input.
func (g *merging) copyOf(f *input.File, number int) (path string, err error) {
	if g.copies == "" {
		if g.copies, err = os.MkdirTemp("", "afdo-merge-*"); err != nil {
			return "", err
		}
	}
	copied, err := os.Create(filepath.Join(g.copies, strconv.Itoa(number)))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(copied, f)
	return copied.Name(), errors.Join(err, copied.Close())
}

// addSection adds the MemProf section of an indexed input to the sum of memory profiles, if the
// input has one.
func (g *merging) addSection(in *mergeInput) error {
	return in.withProfile(func(p *anyprof.Profile) error {
		r := p.Model().(*instrprof.Reader)
		if _, _, err := r.MemProf(); err != nil && r.NumFunctions() == 0 {
			g.Nothing(in.number)
		}
		return g.memory.add(p, in.Weight)
	})
}

func (in *mergeInput) withProfile(use func(p *anyprof.Profile) error) error {
	f, err := input.Open(nil, in.local)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := f.Profile()
	if err == nil {
		err = use(p)
	}
	return input.Wrap(in.Path, err)
}

// sum returns the sum of all inputs' instrumentation profiles, and the records that were dropped
// because they did not match. It also adds up the memory profiles in g.memory.
func (g *merging) sum() (*instrprof.Profile, []instrprof.Mismatch, error) {
	c, err := g.k.correlation()
	if err != nil {
		return nil, nil, err
	}
	o := instrprof.MergeOptions{
		Correlation: c,
		Progress:    func(n int) { g.Say("merging %d profiles, %d read", len(g.inputs), n) },
	}
	if g.KeepGoing {
		o.Skip = func(i int, err error) bool {
			in := &g.inputs[i]
			in.left = true
			return g.Skip(in.number, input.Wrap(in.Path, hint(err)))
		}
	}
	inputs := make([]instrprof.Input, len(g.inputs))
	for i, in := range g.inputs {
		inputs[i] = in.Input
	}
	p, dropped, err := instrprof.MergeFiles(inputs, o)
	for i := 0; i < len(g.inputs) && err == nil; i++ {
		if in := &g.inputs[i]; in.indexed && !in.left {
			err = g.addSection(in)
		}
	}
	return p, dropped, err
}

// counts returns how much a merge has lost. kept is the sum of the counters of the merged profile
// p, and dropped is the sum of the counters in dropped records. If no record was dropped, both are
// 0.
func (g *merging) counts(p *instrprof.Profile, mismatches []instrprof.Mismatch) (kept, dropped uint64) {
	for _, d := range mismatches {
		dropped = saturating.Add(dropped, d.Lost)
	}
	if dropped == 0 {
		return 0, 0 // so that there is no need to add up what is kept
	}
	return saturating.Add(p.Summary().TotalCount, p.CSSummary().TotalCount), dropped
}

// tell prints a warning for each input of which records were dropped.
func (g *merging) tell(e *cli.Env, dropped []instrprof.Mismatch) {
	byFile := make([]mismatches, len(g.inputs))
	for _, d := range dropped {
		byFile[d.Input].add(d.Err)
	}
	for i, in := range g.inputs {
		byFile[i].tell(e, in.Path)
	}
}

// closer adapts an input.File, whose Close returns nothing, to io.Closer.
type closer struct{ *input.File }

// Close closes the file and returns nil.
func (c closer) Close() error {
	c.File.Close()
	return nil
}

// memorySections is the sum of the memory profiles in the MemProf sections of indexed files.
type memorySections struct {
	n   int
	sum memprof.Profile
}

// add adds the MemProf section of a file to the sum, multiplied by times. A file without that
// section is ignored.
func (m *memorySections) add(p *anyprof.Profile, times uint64) error {
	r, ok := p.Model().(*instrprof.Reader)
	if !ok {
		return nil
	}
	src, err := anyprof.Memory(r)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	m.n++
	return m.sum.Merge(src, times)
}

var errTrim = errors.New("instrumentation profiles cannot be trimmed")

// gcPercent limits how far the heap may grow between garbage collections, in percent. A profile is
// large but has few pointers, so frequent collections cost almost nothing.
const gcPercent = 20

// Convert converts between the formats of instrumentation profiles.
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
	return k.write(e, out, p.Profile, &memory)
}
