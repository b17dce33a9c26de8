package samplekind

import (
	"fmt"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/produce/rebase"
)

// Rebase moves a profile to edited sources, calling contexts included.
func (k *Kind) Rebase(e *cli.Env, f *input.File, r *kind.Rebase) (*rebase.Report, error) {
	p, err := k.read(f)
	if err != nil {
		return nil, err
	}
	q, report, err := rebase.Sample(p.Profile, r.Old, r.New)
	if err != nil || r.Output == nil {
		return report, err
	}
	out, of, err := r.Output(formatName(p.format))
	if err != nil {
		return nil, err
	}
	if of != kind.Kind(k) {
		return nil, fmt.Errorf("%s cannot hold %ss: convert what is written", out.Format.Name, k.Name())
	}
	notes, err := k.write(e, out, q, &trim.Flags{})
	notes.tell(e)
	return report, err
}
