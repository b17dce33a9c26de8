package main

import (
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/kind"
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
			if err := m.out.resolve(e); err != nil {
				return err
			}
			if err := m.gather(e, args); err != nil {
				return err
			}
			return e.merge(&m)
		},
	}
	m.out.addFlags(e, cmd)
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

	kind  kind.Kind   // of all inputs
	first *input.File // inputs[0], until it is asked for
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

// open opens an input, which has to be of the kind of the first one.
func (m *merging) open(e *env, i int) (*input.File, error) {
	if i == 0 {
		f := m.first
		m.first = nil
		return f, nil
	}
	f, k, err := e.openFile(m.inputs[i].path)
	if err != nil {
		return nil, err
	}
	if k != m.kind {
		f.Close()
		return nil, f.Wrap(fmt.Errorf("afdo merge takes one kind of profile: no %ss after %ss", k.Name(), m.kind.Name()))
	}
	return f, nil
}

// merge finds out the kind of the inputs and has it add them up.
func (e *env) merge(m *merging) error {
	first, k, err := e.openFile(m.inputs[0].path)
	if err != nil {
		return err
	}
	m.kind, m.first = k, first
	defer func() {
		if m.first != nil {
			m.first.Close()
		}
	}()
	doing := m.out.out.Progress(&e.Env)
	defer doing.Stop()
	doing.Say("merging %d profiles", len(m.inputs))
	own := func(k kind.CanMerge) error {
		if k != m.out.kind {
			return fmt.Errorf("%s cannot hold %ss", m.out.out.Format.Name, k.Name())
		}
		all := kind.Merge{Open: func(i int) (*input.File, error) { return m.open(e, i) }, Say: doing.Say, Out: m.out.out, Trim: &m.trim}
		for _, in := range m.inputs {
			all.Weights = append(all.Weights, in.weight)
		}
		return k.Merge(&e.Env, &all)
	}
	return dispatch(e, "merge", k, own, func(k kind.CanLoad) error { return e.mergeModels(m, k, doing) })
}

// mergeModels adds up profiles in memory.
func (e *env) mergeModels(m *merging, k kind.CanLoad, doing *progress.Line) error {
	to, ok := m.out.kind.(kind.CanEncode)
	if !ok {
		return fmt.Errorf("%s cannot hold %ss", m.out.out.Format.Name, k.Name())
	}
	var mu sync.Mutex
	var losses kind.Losses
	done, withoutUnits := 0, 0
	p, err := profile.Sum(len(m.inputs), func(i int) (*profile.Profile, profile.Ratio, error) {
		one, left, err := m.load(e, k, i)
		if err != nil {
			return nil, profile.Ratio{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		losses.Merge(left)
		if one.NoUnits {
			withoutUnits++
		}
		done++
		doing.Say("merging %d profiles, %d read", len(m.inputs), done)
		return one.Profile, m.inputs[i].weight, nil
	})
	if err != nil {
		return err
	}
	doing.Say("writing %s", m.out.out.Format.Name)
	p, notes := m.trim.Apply(p)
	if err := kind.Write(&e.Env, to, m.out.out, p); err != nil {
		return err
	}
	doing.Stop()
	kind.Note(&e.Env, notes)
	if withoutUnits > 0 && withoutUnits < len(m.inputs) {
		e.Warnf("v2 inputs know no units: their functions stay apart from those of known units: %d of %d inputs", withoutUnits, len(m.inputs))
	}
	losses.Tell(&e.Env)
	return nil
}

// load reads a whole profile and counts what no profile in memory holds.
func (m *merging) load(e *env, k kind.CanLoad, i int) (*kind.Loaded, kind.Losses, error) {
	var losses kind.Losses
	f, err := m.open(e, i)
	if err != nil {
		return nil, losses, err
	}
	defer f.Close()
	l, err := k.Load(f)
	if err != nil {
		return nil, losses, f.Wrap(err)
	}
	if l.Losses != nil {
		losses.Add(l.Losses())
	}
	return l, losses, nil
}
