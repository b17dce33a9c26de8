package kind

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
)

// CanMerge is a Kind that adds up profiles itself.
type CanMerge interface {
	Kind
	// Merge writes the sum of files of the kind.
	Merge(e *cli.Env, m *Merge) error
}

// A Merge is what the verb merge is asked for.
type Merge struct {
	Weights []profile.Ratio                  // one for each input
	Open    func(i int) (*input.File, error) // opens an input of the kind; the caller closes it; concurrent calls are allowed
	Say     func(format string, args ...any) // tells what is being done
	Out     Output
	Trim    *trim.Flags

	// Skip reports whether to leave out an input that cannot be read, and notes that it was left
	// out. Calls come one after the other.
	Skip func(i int, err error) bool

	// Nothing notes that an input was read and has no counts. Calls come one after the other.
	Nothing func(i int)

	// KeepGoing is set if Skip also leaves out inputs whose damage is found late.
	KeepGoing bool

	// Limit is called before anything is written. It returns an error if too much of the inputs was
	// lost. kept and dropped count what was kept and lost of the inputs that were not left out.
	Limit func(kept, dropped uint64) error
}

// EachInput opens each input and calls add with it and its number. If an input fails, [Merge.Skip]
// decides whether the merge goes on without it. After the last input, [Merge.Limit] decides whether
// the sum may be written.
func (m *Merge) EachInput(add func(i int, f *input.File) error) error {
	for i := range m.Weights {
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		f, err := m.Open(i)
		if err == nil {
			err = f.Wrap(add(i, f))
			f.Close()
		}
		if err != nil && !m.Skip(i, err) {
			return err
		}
	}
	return m.Limit(0, 0)
}

// Times returns how many times each input counts in a merge of a kind that adds up whole profiles.
func (m *Merge) Times(k Kind) (times []uint64, err error) {
	for _, w := range m.Weights {
		if w.Den == 0 || w.Num%w.Den != 0 || w.Num == 0 {
			return nil, cli.Usagef("%ss have whole weights of at least 1, not %d/%d", k.Name(), w.Num, w.Den)
		}
		times = append(times, w.Num/w.Den)
	}
	return times, nil
}
