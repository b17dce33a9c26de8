package kind

import (
	"fmt"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/produce/rebase"
)

// A CanRebase is a [Kind] whose profiles "afdo rebase" takes.
type CanRebase interface {
	Kind
	// Rebase moves the counts of the profile in f from the sources for which they were recorded to
	// today's, both in r, and writes the result. If it can move no count, it returns
	// [rebase.ErrNothing], and the report as well, which has the reasons.
	Rebase(e *cli.Env, f *input.File, r *Rebase) (*rebase.Report, error)
}

// A Rebase is what the verb rebase is asked for.
type Rebase struct {
	Old, New *rebase.Sources // Old is nil if the profile has to remember them

	// Output says what to write and which kind its format is of, for a profile that has a format.
	// It is nil if nothing is to be written.
	Output func(format string) (Output, Kind, error)
}

// RebaseModel is CanRebase.Rebase for a kind that package profile can hold: it loads the profile,
// moves its counts in memory, and encodes it.
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
		return nil, fmt.Errorf("%s cannot hold %ss", out.Format.Name, from.Name())
	}
	tellLosses := StartCount(l.Losses)
	if err := Write(e, to, out, p); err != nil {
		return nil, err
	}
	tellLosses(e)
	return report, nil
}
