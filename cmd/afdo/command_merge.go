package main

import (
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/profile"
)

const mergeHelp = `Write the sum of profiles, which may be in different formats. Functions are the
same if their units and names are. Head counts, counts and calls add up and stop
at the largest number; timestamps give the earliest that is not 0; the summary
is computed anew. The order of the inputs does not matter, nor whether they were
merged in groups before.

IN=WEIGHT multiplies the counts of an input before it is added. WEIGHT is a
number like 3, 0.5, 3/4 or 50%, and products are rounded to the nearest, halves
up. What follows the last "=" of an argument is a weight if it consists of
digits, ".", "/" and "%": a file named "a=1" is "a=1=1".

@LIST and --input-list LIST stand for the inputs that the file LIST names, one a
line. Empty lines and lines that begin with "#" are skipped.

Inputs are read a few at a time. What is held in memory depends on what comes
out, not on how many there are.

` + trim.Help + `

OUT appears whole or not at all.`

func newMergeCommand(e *env) *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge -o OUT --to FORMAT IN[=WEIGHT]...",
		Short: "Write the sum of profiles",
		Long:  mergeHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := m.out.check(e); err != nil {
				return err
			}
			if err := m.gather(e, args); err != nil {
				return err
			}
			return e.merge(&m)
		},
	}
	m.out.addFlags(cmd)
	m.trim.AddTo(cmd)
	cmd.Flags().StringArrayVar(&m.lists, "input-list", nil, "file that names inputs, one a line")
	return cmd
}

// A merging is what the command line asks for.
type merging struct {
	out    outputFlags
	trim   trim.Flags
	lists  []string
	inputs []weightedInput
}

// gather finds out what the inputs are.
func (m *merging) gather(e *env, args []string) (err error) {
	if m.inputs, err = e.gatherInputs(args, m.lists); err != nil {
		return err
	}
	switch {
	case len(m.inputs) == 0:
		return cli.Usagef("no IN")
	case countStandardInput(args, m.lists, m.inputs) > 1:
		return cli.Usagef("standard input can be read only once")
	}
	return nil
}

func (e *env) merge(m *merging) error {
	var doing *progress.Line
	if !m.out.onTerminal(e) {
		doing = progress.Start(e.Err)
	}
	defer doing.Stop()
	var left leftOut
	var done, withoutUnits atomic.Int64
	doing.Say("merging %d profiles", len(m.inputs))
	p, err := profile.Sum(len(m.inputs), func(i int) (*profile.Profile, profile.Ratio, error) {
		in := m.inputs[i]
		p, format, err := e.loadCounting(in.path, &left)
		if format == gcovkind.V2 {
			withoutUnits.Add(1)
		}
		doing.Say("merging %d profiles, %d read", len(m.inputs), done.Add(1))
		return p, in.weight, err
	})
	if err != nil {
		return err
	}
	doing.Say("writing %s", m.out.format.String())
	p, notes := m.trim.Apply(p)
	if err := e.writeProfile(m.out, p); err != nil {
		return err
	}
	doing.Stop()
	e.note(notes)
	if n := int(withoutUnits.Load()); n > 0 && n < len(m.inputs) {
		e.Warnf("v2 inputs know no units: their functions stay apart from those of known units: %d of %d inputs", n, len(m.inputs))
	}
	e.reportExtensions(left.extensions())
	return nil
}

// leftOut adds up the [extensions] of inputs that are read at the same time.
type leftOut struct {
	sections, locations atomic.Uint64
	err                 atomic.Pointer[error]
}

func (l *leftOut) add(x gcovkind.Extensions) {
	l.sections.Add(x.Sections)
	l.locations.Add(x.Locations)
	if x.Err != nil {
		l.err.Store(&x.Err)
	}
}

func (l *leftOut) extensions() gcovkind.Extensions {
	x := gcovkind.Extensions{Sections: l.sections.Load(), Locations: l.locations.Load()}
	if err := l.err.Load(); err != nil {
		x.Err = *err
	}
	return x
}

// loadCounting reads a whole profile and counts what no profile in memory holds.
func (e *env) loadCounting(path string, left *leftOut) (*profile.Profile, gcovkind.Format, error) {
	in, err := e.openInput(path)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	p, err := in.Profile()
	if err == nil && in.Format.V4() {
		left.add(<-in.CountExtensions())
	}
	return p, in.Format, in.Wrap(err)
}
