package instrprofkind

import (
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// Drawing returns a profile whose samples are what counters count.
func (k *Kind) Drawing(e *cli.Env, f *input.File) (*kind.Drawing, error) {
	p, err := k.load(e, f)
	if err != nil {
		return nil, err
	}
	return &kind.Drawing{
		Profile: asBodies(p.Profile),
		Format:  f.Format().String(),
		Note:    "Samples are what counters count: how often a part of a function ran.",
		Size:    p.file.Size(),
	}, nil
}

// asBodies returns a profile whose lines are the numbers of counters, with the counters as counts.
// The first counter is the head count. A function with internal linkage is in the unit that its
// name contains.
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
		name, file := r.Name(), profile.UnknownUnit
		if i := strings.LastIndexAny(name, ";:"); i >= 0 {
			file = q.AddUnit(name[:i])
		}
		q.AddFunction(q.AddSymbol(file, instrprof.Symbol(name)), profile.Function{HeadCount: head, Records: body.Records()})
	}
	return q
}
