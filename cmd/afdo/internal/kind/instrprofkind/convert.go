package instrprofkind

import (
	"errors"
	"runtime/debug"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
)

var errTrim = errors.New("instrumentation profiles cannot be trimmed")

// gcPercent limits how far the heap may grow, in percent. A profile is large but has few pointers,
// so frequent collections cost almost nothing.
const gcPercent = 20

// Convert writes a file in a format of the kind.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if t.Any() {
		return errTrim
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	var memory memorySections
	if err := memory.add(p.file, 1); err != nil {
		return err
	}
	if err := k.write(e, out, p.Profile, &memory); err != nil {
		return err
	}
	doing.Stop()
	memory.tell(e, out.Format.Name, k.version)
	return nil
}
