package kind

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
)

// CanMerge is a Kind that merges its files itself, not as profiles of package profile.
type CanMerge interface {
	Kind
	// Merge writes the sum of files of the kind.
	Merge(e *cli.Env, m *Merge) error
}

// A Merge describes one run of the verb merge, for a kind that merges its files itself.
type Merge struct {
	Weights []profile.Ratio                  // weight of each input
	Open    func(i int) (*input.File, error) // opens an input of the kind; the caller closes it; concurrent calls are allowed
	Say     func(format string, args ...any) // sets the text of the progress line
	Out     Output
	Trim    *trim.Flags

	// Skip is called for an input that cannot be read. It reports whether the merge goes on without
	// the input, and remembers that. Calls must not be concurrent.
	Skip func(i int, err error) bool

	// Nothing is called for an input that was read and has no counts. Calls must not be concurrent.
	Nothing func(i int)

	// KeepGoing is set if Skip also leaves out inputs that turn out to be damaged after a part was
	// read. Such an input must be read as a whole before any of it is added.
	KeepGoing bool

	// Limit is called before anything is written. It returns an error if too large a share of the
	// counts was lost. kept and dropped are the sums of the counts that were kept and lost in the
	// inputs that were not left out.
	Limit func(kept, dropped uint64) error
}

// EachInput opens each input and calls add with it and its index. If this fails, [Merge.Skip]
// decides whether the merge goes on without that input. After the last input, [Merge.Limit] decides
// whether the sum may be written.
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

// Times returns the weights of all inputs as whole numbers, for the kind k, which supports no
// others. A weight that is not a whole number of at least 1 is an error.
func (m *Merge) Times(k Kind) (times []uint64, err error) {
	for _, w := range m.Weights {
		if w.Den == 0 || w.Num%w.Den != 0 || w.Num == 0 {
			return nil, cli.Usagef("%ss have whole weights of at least 1, not %d/%d", k.Name(), w.Num, w.Den)
		}
		times = append(times, w.Num/w.Den)
	}
	return times, nil
}
