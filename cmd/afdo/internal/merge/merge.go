package merge

import (
	"cmp"
	"fmt"
	"math/big"
	"sync"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
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
			return m.out.Out.CannotHold(k)
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

// A modelMerging is the state of a merge that loads all inputs as profiles of package profile.
type modelMerging struct {
	*merging
	env    *verb.Env
	from   kind.CanLoad
	groups [][]int // indexes of inputs; the inputs of one host, which --host-cap limits together, form a group
	doing  *progress.Line

	mu           sync.Mutex
	losses       kind.Losses
	done         int // number of inputs that were read or skipped
	bad          int // number of skipped inputs among these
	withoutUnits int
	aligned      int // number of units that got their path from the first input

	first *kind.Loaded // the input whose unit paths all others get with --align-units, or nil
}

func mergeModels(e *verb.Env, m *merging, k kind.CanLoad, doing *progress.Line) error {
	to, ok := m.out.Kind.(kind.CanEncode)
	if !ok {
		return m.out.Out.CannotHold(k)
	}
	mm := modelMerging{merging: m, env: e, from: k, groups: m.weighing.Rules.Groups(m.inputs), doing: doing}
	if err := mm.readFirst(); err != nil {
		return err
	}
	p, err := profile.Sum(len(mm.groups), mm.group)
	if err != nil {
		return err
	}
	if err := m.limit(e, doing, 0, 0); err != nil {
		return err
	}
	doing.Say("writing %s", m.out.Out.Format.Name)
	p, notes := m.trim.Apply(p)
	if err := kind.Write(&e.Env, to, m.out.Out, p); err != nil {
		return err
	}
	doing.Stop()
	kind.Note(&e.Env, notes)
	if mm.withoutUnits > 0 && mm.withoutUnits < mm.done-mm.bad {
		e.Warnf("v2 inputs know no units: their functions stay apart from those of known units: %d of %d inputs", mm.withoutUnits, mm.done-mm.bad)
	}
	if m.align {
		e.Warnf("units of other paths that are units of %s: %s", human.Name(input.Name(m.inputs[m.firstAt].Path)), human.Number(mm.aligned))
	}
	mm.losses.Tell(&e.Env)
	return m.tellSkipped(e)
}

// readFirst loads the first readable input, if --align-units was given. Other inputs may have other
// paths for the same source files. They get the paths of this input.
func (mm *modelMerging) readFirst() (err error) {
	for i := mm.firstAt; mm.align && mm.first == nil && i < len(mm.inputs); i++ {
		if mm.skipped[i] != nil {
			continue
		}
		mm.firstAt = i
		if mm.first, err = mm.loadKind(i); err != nil && !mm.skip(i, err) {
			return err
		}
	}
	return nil
}

// alignUnits gives the units of an input the paths that the same units have in the first input. It
// returns the number of units whose path has changed.
func (mm *modelMerging) alignUnits(p *profile.Profile) int {
	a := profile.Align(mm.first.Profile, p)
	n := len(a.Moved)
	for _, r := range a.Roots {
		n += r.Units
	}
	return n
}

// group returns the sum of the inputs of one host, and the factor by which it is multiplied in the
// merge. --host-cap limits that sum. Without --host-cap, each input is a group of its own, and the
// factor is its weight.
func (mm *modelMerging) group(g int) (*profile.Profile, profile.Ratio, error) {
	if group := mm.groups[g]; len(group) == 1 && mm.weighing.Rules.HostCap == 0 {
		p, err := mm.load(group[0])
		return p, mm.weights[group[0]], err
	}
	host := profile.New()
	for _, i := range mm.groups[g] {
		p, err := mm.load(i)
		if err != nil {
			return nil, profile.Ratio{}, err
		}
		host.MergeScaled(p, mm.weights[i])
	}
	return host, mm.weighing.Rules.Cap(host), nil
}

// load loads input i. It returns an empty profile for a skipped input.
func (mm *modelMerging) load(i int) (*profile.Profile, error) {
	one, aligned, err := mm.first, 0, mm.skipped[i]
	if err == nil && (one == nil || i != mm.firstAt) {
		if one, err = mm.loadKind(i); err != nil && !mm.skip(i, err) {
			return nil, err
		}
		if err == nil && mm.first != nil {
			aligned = mm.alignUnits(one.Profile)
		}
	}
	mm.mu.Lock()
	defer mm.mu.Unlock()
	mm.done++
	mm.aligned += aligned
	switch {
	case err != nil:
		mm.bad++
		one = &kind.Loaded{Profile: profile.New()}
	case one.NoUnits:
		mm.withoutUnits++
	}
	if err == nil && one != mm.first && one.Profile.NumFunctions() == 0 {
		mm.nothing = append(mm.nothing, i)
	}
	skipped := ""
	if mm.bad > 0 {
		skipped = ", " + human.Number(mm.bad) + " skipped"
	}
	mm.doing.Say("merging %s profiles, %s read%s", human.Number(len(mm.inputs)), human.Number(mm.done-mm.bad), skipped)
	return one.Profile, nil
}

// loadKind loads input i. It counts the parts of the input that a profile in memory cannot hold.
func (mm *modelMerging) loadKind(i int) (*kind.Loaded, error) {
	f, err := mm.open(mm.env, i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := mm.from.Load(f)
	if err != nil {
		return nil, f.Wrap(err)
	}
	if l.Losses != nil {
		losses, err := l.Losses()
		mm.mu.Lock()
		defer mm.mu.Unlock()
		mm.losses.Add(losses, err)
	}
	return l, nil
}
