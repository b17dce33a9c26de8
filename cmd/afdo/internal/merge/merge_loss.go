package merge

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// A shareFlag is the value of --max-lost.
type shareFlag struct {
	most *profile.Ratio // nil if any share may be lost
	text string
}

// String returns the text of the flag.
func (s *shareFlag) String() string { return s.text }

// Set takes a share from 0 to 1.
func (s *shareFlag) Set(text string) error {
	most := profile.Ratio{Den: 1}
	if text != "0" && text != "0%" {
		var err error
		if most, err = profile.ParseRatio(text); err != nil {
			return err
		}
	}
	if most.Num > most.Den {
		return errors.New("want a share of at most 100%")
	}
	s.most, s.text = &most, text
	return nil
}

// Type is what the help calls the value.
func (s *shareFlag) Type() string { return "SHARE" }

// skip reports whether to leave out an input because of an error. LLVM's programs leave empty files
// when they are killed, and a merge ignores these.
func (m *merging) skip(i int, err error) bool {
	if m.keepGoing || errors.Is(err, anyprof.ErrEmpty) && m.passesEmpty() {
		m.skipped[i] = err
		return true
	}
	return false
}

// passesEmpty reports whether empty inputs are left out. They are while the kind is unknown.
func (m *merging) passesEmpty() bool {
	_, own := m.kind.(kind.CanMerge)
	return own || m.kind == nil
}

// refuseEmpty returns the error of the first input that should not have been left out.
func (m *merging) refuseEmpty() error {
	if m.keepGoing || m.passesEmpty() {
		return nil
	}
	return cmp.Or(m.skipped...)
}

// tellSkipped says which inputs were left out. The error is that all were, or with --keep-going
// that some were.
func (m *merging) tellSkipped(e *verb.Env) error {
	slices.Sort(m.nothing)
	for _, i := range m.nothing {
		e.Warnf("%s: no counts", human.Name(input.Name(m.inputs[i].Path)))
	}
	n := 0
	for _, err := range m.skipped {
		if err != nil {
			n++
			e.Warnf("skipped: %s", cli.Message(err))
		}
	}
	switch n {
	case 0:
	case len(m.inputs):
		return fmt.Errorf("all of %s inputs were skipped", human.Number(n))
	default:
		e.Warnf("inputs skipped: %s of %s", human.Number(n), human.Number(len(m.inputs)))
	}
	if m.lossText != "" {
		e.Warnf("%s", m.lossText)
	}
	if n > 0 && m.keepGoing {
		return cli.StatusError(cli.StatusPartial)
	}
	return nil
}

// limit refuses the sum if more of the counts is lost than --max-lost allows, or all. An input that
// was left out counts for what one of its weight has on average; kept and dropped are counts of the
// inputs that were read.
func (m *merging) limit(e *verb.Env, doing *progress.Line, kept, dropped uint64) error {
	lost := m.lost(kept, dropped)
	share, _ := lost.Float64()
	if share > 0 {
		m.lossText = "counts lost: about " + human.Percent(share)
	}
	if dropped > 0 {
		m.lossText += ", with " + human.Number(dropped) + " in records that do not fit"
	}
	if most := m.maxLost.most; share < 1 && (most == nil || lost.Cmp(ratOf(*most)) <= 0) {
		return nil
	}
	doing.Stop()
	if err := m.tellSkipped(e); err != nil && !errors.Is(err, cli.StatusError(cli.StatusPartial)) {
		return err
	}
	if m.maxLost.most == nil {
		return errors.New("nothing is written: all counts are lost")
	}
	return fmt.Errorf("nothing is written: more is lost than --max-lost %s allows", m.maxLost.text)
}

// lost returns the share of the counts that the sum does not have.
func (m *merging) lost(kept, dropped uint64) *big.Rat {
	read, all := new(big.Rat), new(big.Rat)
	for i, w := range m.weights {
		weight := ratOf(w)
		all.Add(all, weight)
		if m.skipped[i] == nil {
			read.Add(read, weight)
		}
	}
	have := new(big.Rat).Quo(read, all)
	if dropped > 0 {
		whole := new(big.Int).Add(new(big.Int).SetUint64(kept), new(big.Int).SetUint64(dropped))
		have.Mul(have, new(big.Rat).SetFrac(new(big.Int).SetUint64(kept), whole))
	}
	return have.Sub(big.NewRat(1, 1), have)
}

func ratOf(r profile.Ratio) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den))
}
