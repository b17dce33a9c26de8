package instrprofkind

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/demangled"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/report"
	"github.com/go-afdo/afdo/profile"
)

// Report writes a page on which samples are what counters count.
func (k *Kind) Report(e *cli.Env, f *input.File, o *kind.ReportOptions) error {
	doing := progress.Start(e.Err)
	doing.Say("reading %s", human.Name(f.Name))
	defer doing.Stop()
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	options := report.Options{
		Source:    filepath.Base(f.Name),
		Format:    detect(f.Head).String(),
		Note:      "Samples are what counters count: how often a part of a function ran.",
		Size:      f.Offset(),
		Functions: o.Functions,
		Units:     report.DefaultUnits,
		Frames:    report.DefaultFrames,
	}
	if f.Path != "" {
		if options.Size, err = sizeOf(f.Path); err != nil {
			return err
		}
	}
	if o.Demangle {
		options.Name = demangled.Bounded
	}
	doing.Say("writing %s", human.Name(o.Path))
	return output.Write(e.Out, o.Path, func(w io.Writer) error { return report.Write(w, asBodies(p), options) })
}

// asBodies makes counters the counts of a function's lines, which are their numbers, and the first
// of them its head count. A function of internal linkage is in the unit that its name tells.
func asBodies(p *instrprof.Profile) *profile.Profile {
	q := profile.New()
	var body profile.Body
	for r := range p.Records() {
		if r.Pseudo() != 0 {
			continue
		}
		body.Reset()
		head := uint64(0)
		for i := range r.Counters().Len() {
			body.Count(uint32(i), 0, r.Counters().At(i))
		}
		if r.Counters().Len() > 0 {
			head = r.Counters().At(0)
		}
		name, file := r.Name(), profile.UnknownFile
		if i := strings.LastIndexAny(name, ";:"); i >= 0 {
			file = q.AddFile(name[:i])
		}
		q.AddFunction(q.AddSymbol(file, instrprof.Symbol(name)), profile.Function{HeadCount: head, Records: body.Records()})
	}
	return q
}
