package memprofkind

import (
	"errors"

	"github.com/go-afdo/afdo/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/memprof"
)

// Merge adds up indexed, raw and YAML files, one after the other: the memory is that of the sum and
// one input.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if err := refuseTrimming(m.Trim); err != nil {
		return err
	}
	p := new(memprof.Profile)
	var ids []instrprof.BinaryID
	for i, weight := range m.Weights {
		if weight.Num != weight.Den {
			return errors.New("memory profiles have no weights: times and densities are averages already")
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		more, err := k.add(e, m, i, p)
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	return k.write(e, m.Out, p, ids)
}

// add adds an input and returns the IDs of its binaries.
func (k *Kind) add(e *cli.Env, m *kind.Merge, i int, p *memprof.Profile) ([]instrprof.BinaryID, error) {
	f, err := m.Open(i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := load(f)
	if err != nil {
		return nil, f.Wrap(err)
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return nil, f.Wrap(err)
	}
	return l.ids, f.Wrap(p.Add(src))
}
