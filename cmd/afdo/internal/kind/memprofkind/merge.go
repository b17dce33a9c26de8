package memprofkind

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
)

// Merge adds up indexed, raw and YAML files, one after the other. It takes the memory of the sum
// and of one input.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if err := refuseTrimming(m.Trim); err != nil {
		return err
	}
	sum := sum{Profile: new(memprof.Profile)}
	for i, weight := range m.Weights {
		times, err := kind.Times(k, weight)
		if err != nil {
			return err
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		if err := k.add(e, m, i, &sum, times); err != nil && !m.Skip(i, err) {
			return err
		}
	}
	if err := m.Limit(0, 0); err != nil {
		return err
	}
	return k.write(e, m.Out, sum.Profile, sum.ids)
}

// A sum is what inputs add up to, with the IDs of their binaries.
type sum struct {
	*memprof.Profile
	ids []instrprof.BinaryID
}

// add adds an input the given number of times. If bad inputs are left out, it reads each input
// separately first, so that no part of a bad input is added.
func (k *Kind) add(e *cli.Env, m *kind.Merge, i int, to *sum, times uint64) error {
	f, err := m.Open(i)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := load(f)
	if err != nil {
		return f.Wrap(err)
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return f.Wrap(err)
	}
	if m.KeepGoing {
		one := new(memprof.Profile)
		if err := one.Merge(src, 1); err != nil {
			return f.Wrap(err)
		}
		src = one
	}
	if isEmpty(src) {
		m.Nothing(i)
	}
	to.ids = append(to.ids, l.ids...)
	return f.Wrap(to.Merge(src, times))
}

// isEmpty reports whether a profile has no records.
func isEmpty(src memprof.Source) bool {
	for range src.Records() {
		return false
	}
	return true
}
