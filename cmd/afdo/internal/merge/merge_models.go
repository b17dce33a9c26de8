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

// A modelMerging adds up profiles in memory.
type modelMerging struct {
	*merging
	env    *verb.Env
	from   kind.CanLoad
	groups [][]int // the inputs, by those that are merged and capped together
	doing  *progress.Line

	mu           sync.Mutex
	losses       kind.Losses
	done         int // inputs, those that were skipped included
	bad          int // of them
	withoutUnits int
	aligned      int // units whose path became that of the first input

	first *kind.Loaded // whose units all others are taken for, nil to leave them as they are
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

// readFirst reads the first input that can be read before all others if their units are to be taken
// for its units.
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

// alignUnits gives the units of an input the paths that the first one has for them, and returns how
// many these are.
func (mm *modelMerging) alignUnits(p *profile.Profile) int {
	a := profile.Align(mm.first.Profile, p)
	n := len(a.Moved)
	for _, r := range a.Roots {
		n += r.Units
	}
	return n
}

// group returns the inputs of a group as one profile, and what that is multiplied with.
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

// load reads an input. The profile of one that is skipped is empty.
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

// loadKind reads a whole profile and counts what no profile in memory holds.
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
