package merge

import (
	"fmt"
	"sync"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

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
		return fmt.Errorf("%s cannot hold %ss", m.out.Out.Format.Name, k.Name())
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
