package kind

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/produce/rebase"
)

// CanRebase is a [Kind] that supports the verb rebase.
type CanRebase interface {
	Kind
	// Rebase moves the counts of the profile in f from the old sources to the new ones in r, and
	// writes the result. If it can move no count, it returns [rebase.ErrNothing] and a report with
	// the reasons.
	Rebase(e *cli.Env, f *input.File, r *Rebase) (*rebase.Report, error)
}

// A Rebase describes one run of the verb rebase, for a kind that moves the counts of its profiles
// itself.
type Rebase struct {
	Old, New *rebase.Sources // Old is nil if the profile contains hashes of the old source lines

	// Output returns the output, and the kind of its format, for a profile that was read in the
	// given format. Output is nil if nothing is to be written.
	Output func(format string) (Output, Kind, error)
}

// RebaseModel implements CanRebase.Rebase for a kind that implements CanLoad: it loads the profile,
// moves its counts in memory, and writes it.
func RebaseModel(e *cli.Env, from CanLoad, f *input.File, r *Rebase) (*rebase.Report, error) {
	l, err := from.Load(f)
	if err != nil {
		return nil, err
	}
	p, report, err := rebase.Profile(l.Profile, r.Old, r.New)
	if err != nil || r.Output == nil {
		return report, err
	}
	out, of, err := r.Output(l.Format)
	if err != nil {
		return nil, err
	}
	to, ok := of.(CanEncode)
	if !ok {
		return nil, out.CannotHold(from)
	}
	tellLosses := StartCount(l.Losses)
	if err := Write(e, to, out, p); err != nil {
		return nil, err
	}
	tellLosses(e)
	return report, nil
}
