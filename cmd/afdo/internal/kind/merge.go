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

// EachInput calls add for each input, with the number of the input and how many times the input
// counts. If add fails, [Merge.Skip] decides whether the merge goes on without the input. After the
// last input, [Merge.Limit] decides whether the sum may be written.
func (m *Merge) EachInput(k Kind, add func(i int, times uint64) error) error {
	for i, weight := range m.Weights {
		times, err := Times(k, weight)
		if err != nil {
			return err
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		if err := add(i, times); err != nil && !m.Skip(i, err) {
			return err
		}
	}
	return m.Limit(0, 0)
}

// Times returns how many times an input counts in a merge of a kind that adds up whole profiles.
func Times(k Kind, weight profile.Ratio) (uint64, error) {
	if weight.Den == 0 || weight.Num%weight.Den != 0 || weight.Num == 0 {
		return 0, cli.Usagef("%ss have whole weights of at least 1, not %d/%d", k.Name(), weight.Num, weight.Den)
	}
	return weight.Num / weight.Den, nil
}
