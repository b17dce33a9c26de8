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
func (mm *modelMerging) readFirst() error {
	if !mm.align {
		return nil
	}
	for i := mm.firstAt; i < len(mm.inputs); i++ {
		if mm.skipped[i] != nil {
			continue
		}
		mm.firstAt = i
		first, losses, err := mm.loadKind(i)
		if err == nil {
			mm.first, mm.losses = first, losses
			return nil
		}
		if !mm.skip(i, err) {
			return err
		}
	}
	return nil
}

// alignUnits gives the units of an input the paths that the first one has for them.
func (mm *modelMerging) alignUnits(p *profile.Profile) {
	a := profile.Align(mm.first.Profile, p)
	n := len(a.Moved)
	for _, r := range a.Roots {
		n += r.Units
	}
	mm.mu.Lock()
	defer mm.mu.Unlock()
	mm.aligned += n
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
	if mm.skipped[i] != nil {
		mm.count(kind.Losses{}, false, true)
		return profile.New(), nil
	}
	if mm.first != nil && i == mm.firstAt {
		mm.count(kind.Losses{}, mm.first.NoUnits, false)
		return mm.first.Profile, nil
	}
	one, losses, err := mm.loadKind(i)
	if err != nil {
		if !mm.skip(i, err) {
			return nil, err
		}
		mm.count(kind.Losses{}, false, true)
		return profile.New(), nil
	}
	mm.count(losses, one.NoUnits, false)
	if one.Profile.NumFunctions() == 0 {
		mm.mu.Lock()
		mm.nothing = append(mm.nothing, i)
		mm.mu.Unlock()
	}
	if mm.first != nil {
		mm.alignUnits(one.Profile)
	}
	return one.Profile, nil
}

// count notes that an input has been read or skipped.
func (mm *modelMerging) count(losses kind.Losses, withoutUnits, bad bool) {
	mm.mu.Lock()
	defer mm.mu.Unlock()
	mm.losses.Merge(losses)
	mm.done++
	if withoutUnits {
		mm.withoutUnits++
	}
	if bad {
		mm.bad++
	}
	if mm.bad > 0 {
		mm.doing.Say("merging %s profiles, %s read, %s skipped", human.Number(len(mm.inputs)), human.Number(mm.done-mm.bad), human.Number(mm.bad))
		return
	}
	mm.doing.Say("merging %s profiles, %s read", human.Number(len(mm.inputs)), human.Number(mm.done))
}

// loadKind reads a whole profile and counts what no profile in memory holds.
func (mm *modelMerging) loadKind(i int) (*kind.Loaded, kind.Losses, error) {
	var losses kind.Losses
	f, err := mm.open(mm.env, i)
	if err != nil {
		return nil, losses, err
	}
	defer f.Close()
	l, err := mm.from.Load(f)
	if err != nil {
		return nil, losses, f.Wrap(err)
	}
	if l.Losses != nil {
		losses.Add(l.Losses())
	}
	return l, losses, nil
}
