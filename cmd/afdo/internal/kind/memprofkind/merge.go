package memprofkind

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/llvm/instrprof"
	"github.com/go-afdo/afdo/llvm/memprof"
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
		if weight.Den == 0 || weight.Num%weight.Den != 0 || weight.Num == 0 {
			return cli.Usagef("memory profiles have whole weights of at least 1, not %d/%d", weight.Num, weight.Den)
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		more, err := k.add(e, m, i, p, weight.Num/weight.Den)
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	return k.write(e, m.Out, p, ids)
}

// add adds an input so many times and returns the IDs of its binaries.
func (k *Kind) add(e *cli.Env, m *kind.Merge, i int, p *memprof.Profile, times uint64) ([]instrprof.BinaryID, error) {
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
	return l.ids, f.Wrap(p.Merge(src, times))
}
