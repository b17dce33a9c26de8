package merge

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/cli/weighing"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

const mergeHelp = `Write the sum of profiles, which may be in different formats. Functions with the
same unit and name are added. Head counts, counts and calls add up and saturate;
of timestamps the earliest one other than 0 is kept; the summary is recomputed.
Neither the order of the inputs nor merging them in groups makes a difference.

IN=WEIGHT multiplies the counts of an input before it is added. WEIGHT is a
number like 3, 0.5, 3/4 or 50%; products are rounded to nearest, halves up. The
part after the last "=" of an argument is a weight if it consists of digits, ".",
"/" and "%": write "a=1=1" for a file named "a=1".

IN may be a folder, which stands for all files below it, and a pattern such as
'runs/*.profraw', which stands for the files that match.

@LIST and --input-list LIST stand for the inputs that the file LIST names, one a
line. ` + weighing.Help + `

--align-units takes a unit for one of the first IN if their paths differ only in
where they begin, as those of a program that was built in two folders, or if they
have the same functions, as "afdo diff" does. Standard error tells how many. Units
that the first IN does not have keep their paths. One more profile is in memory.

One input for each processor, and one more, is read at a time. Memory depends on the
size of the result, not on the number of inputs.

An input that cannot be read stops the merge. With --keep-going it is reported
on standard error and skipped, and the exit status is 3. If nothing is left, there
is no output and the status is 1. Empty files are always skipped if the others are
profiles of LLVM: programs that were killed leave them.

--max-lost SHARE writes nothing, with status 1, if more than this share of the
counts is lost. An input that is skipped counts for as much as the others have on
average. Counts of instrumentation profiles are also lost where records of one
function do not fit each other.

` + trim.Help + `

OUT appears whole or not at all.`

func NewMerge(e *verb.Env) *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge [-o OUT] [--to FORMAT] IN[=WEIGHT]...",
		Short: "Write the sum of profiles",
		Long:  mergeHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := m.out.Resolve(e); err != nil {
				return err
			}
			if err := m.gather(e, args); err != nil {
				return err
			}
			return e.TellWritten(m.json, m.out.Path, func() error { return runMerge(e, &m) }, m.facts)
		},
	}
	m.out.Usual = verb.UsualFormat
	m.out.AddFlags(e, cmd)
	m.trim.AddTo(cmd)
	m.weighing.AddTo(cmd)
	verb.AddWrittenFlag(cmd, &m.json)
	cmd.Flags().StringArrayVar(&m.lists, "input-list", nil, "file with a list of inputs, one a line")
	cmd.Flags().BoolVar(&m.align, "align-units", false, "take units of other paths for those of the first IN, as diff does")
	cmd.Flags().BoolVar(&m.keepGoing, "keep-going", false, "leave out inputs that cannot be read")
	m.maxLost = cli.Flag[*big.Rat]{To: &m.mostLost, Parse: parseMaxLost, Kind: "SHARE"}
	cmd.Flags().Var(&m.maxLost, "max-lost", "write nothing if more than this share of the counts is lost, as in 5%")
	return cmd
}

// A merging contains the flags of the verb merge and the state of the merge.
type merging struct {
	out       verb.Output
	trim      trim.Flags
	weighing  weighing.Flags
	lists     []string
	keepGoing bool
	align     bool
	json      bool
	maxLost   cli.Flag[*big.Rat] // --max-lost
	mostLost  *big.Rat           // value of maxLost, nil if it is not given
	inputs    []fleet.Input
	weights   []profile.Ratio // weight of each input

	kind    kind.Kind   // the kind of all inputs
	first   *input.File // the first input that could be opened, until open returns it
	firstAt int         // index of first in inputs
	skipped []error     // for each input, the error for which it was left out, or nil
	nothing []int       // indexes of inputs without counts

	lossText string // message on the share of counts that was lost
}

// facts adds to the JSON report of the merge how many inputs there were and which of them were
// skipped.
func (m *merging) facts(f *verb.WrittenFacts) {
	f.Format, f.Inputs = m.out.Out.Format.Name, len(m.inputs)
	for i, err := range m.skipped {
		if err != nil {
			f.Skipped = append(f.Skipped, verb.SkippedFacts{File: m.inputs[i].Path, Error: cli.Message(err)})
		}
	}
}

// openFirst opens the first input that can be opened, and so determines the kind of all inputs.
// Inputs before it that cannot be opened are skipped or cause an error.
func (m *merging) openFirst(e *verb.Env) error {
	for i := range m.inputs {
		if m.skipped[i] != nil {
			continue
		}
		m.firstAt = i
		first, kind, err := e.OpenFile(m.inputs[i].Path)
		if err == nil {
			m.first, m.kind = first, kind
			if m.keepGoing || m.passesEmpty() {
				return nil
			}
			return cmp.Or(m.skipped...) // the error of the first input that should not have been left out
		}
		if !m.skip(i, err) {
			return err
		}
	}
	return m.tellSkipped(e)
}

// open opens input i. It is an error if the input is of another kind than the first input.
func (m *merging) open(e *verb.Env, i int) (*input.File, error) {
	if i == m.firstAt && m.first != nil {
		f := m.first
		m.first = nil
		return f, nil
	}
	f, k, err := e.OpenFile(m.inputs[i].Path)
	if err != nil {
		return nil, err
	}
	if k != m.kind {
		f.Close()
		return nil, f.Wrap(fmt.Errorf("afdo merge takes one kind of profile: no %ss after %ss", k.Name(), m.kind.Name()))
	}
	return f, nil
}

// runMerge determines the kind of the inputs from the first of them, and merges them.
func runMerge(e *verb.Env, m *merging) error {
	if err := m.weigh(); err != nil {
		return err
	}
	if err := m.openFirst(e); err != nil {
		return err
	}
	defer func() {
		if m.first != nil {
			m.first.Close()
		}
	}()
	if err := m.out.Suits(m.kind); err != nil {
		return err
	}
	doing := m.out.Out.Progress(&e.Env)
	defer doing.Stop()
	doing.Say("merging %d profiles", len(m.inputs))
	own := func(k kind.CanMerge) error {
		if from, ok := k.(kind.CanLoad); ok && k != m.out.Kind {
			return mergeModels(e, m, from, doing)
		}
		if k != m.out.Kind {
			return fmt.Errorf("%s cannot hold %ss", m.out.Out.Format.Name, k.Name())
		}
		if m.align {
			return fmt.Errorf("--align-units is for profiles that have units, not for %ss", k.Name())
		}
		if m.weighing.Rules.HostCap > 0 {
			return fmt.Errorf("--host-cap is for profiles of samples, not for %ss", k.Name())
		}
		return mergeOwn(e, m, k, doing)
	}
	return verb.Dispatch(e, "merge", m.kind, own, func(k kind.CanLoad) error { return mergeModels(e, m, k, doing) })
}

// mergeOwn merges the inputs by the method Merge of their kind. Other kinds are merged by
// mergeModels.
func mergeOwn(e *verb.Env, m *merging, k kind.CanMerge, doing *progress.Line) error {
	err := k.Merge(&e.Env, &kind.Merge{
		Weights:   m.weights,
		Open:      func(i int) (*input.File, error) { return m.open(e, i) },
		Say:       doing.Say,
		Out:       m.out.Out,
		Trim:      &m.trim,
		Skip:      m.skip,
		Nothing:   func(i int) { m.nothing = append(m.nothing, i) },
		KeepGoing: m.keepGoing,
		Limit:     func(kept, dropped uint64) error { return m.limit(e, doing, kept, dropped) },
	})
	if err != nil {
		return err
	}
	doing.Stop()
	return m.tellSkipped(e)
}
