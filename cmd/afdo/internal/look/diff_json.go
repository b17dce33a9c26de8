package look

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/profile"
)

// A diffJSON writes a diffReport as JSON.
type diffJSON struct {
	*jsonstream.Writer
	of *diffReport
}

func (j *diffJSON) report() error {
	r := j.of
	j.Object("")
	j.side("first", 0, r.diff.First)
	j.side("second", 1, r.diff.Second)
	j.Bool("equal", r.difference == nil)
	if r.difference != nil {
		j.Name("difference", r.difference.Error())
	}
	j.overlap(&r.diff.Overlap)
	j.matched(&r.aligned)
	j.functions("changed", r.changed)
	j.functions("gained", r.gained)
	j.functions("lost", r.lost)
	j.units()
	j.Object("left_out")
	for _, list := range []struct {
		key string
		n   int
	}{{"changed", len(r.changed)}, {"gained", len(r.gained)}, {"lost", len(r.lost)}, {"units", len(r.units)}} {
		j.Uint(list.key, uint64(list.n-r.shown(list.n)))
	}
	j.End()
	j.End()
	return j.Finish()
}

func (j *diffJSON) side(key string, which int, p profile.Portion) {
	j.Object(key)
	j.Name("file", j.of.paths[which])
	j.Uint("samples", p.Samples)
	j.Uint("functions", uint64(p.Functions))
	j.Uint("units", uint64(j.of.numUnits[which]))
	j.End()
}

func (j *diffJSON) overlap(o *profile.Overlap) {
	j.Object("overlap")
	j.Float("similarity", o.Similarity)
	j.Float("functions", o.Functions)
	j.Float("locations", o.Locations)
	j.Float("counts", o.Counts)
	j.Float("only_first", o.OnlyFirst)
	j.Float("only_second", o.OnlySecond)
	j.End()
}

func (j *diffJSON) matched(a *profile.Alignment) {
	j.Object("matched")
	j.Uint("same", uint64(a.Same))
	j.Array("folders")
	for _, r := range a.Roots {
		j.Object("")
		j.Name("first", r.First)
		j.Name("second", r.Second)
		j.Uint("units", uint64(r.Units))
		j.End()
	}
	j.End()
	j.Array("moved")
	for _, u := range a.Moved {
		j.Object("")
		j.Name("first", u.First)
		j.Name("second", u.Second)
		j.End()
	}
	j.End()
	j.End()
}

func (j *diffJSON) functions(key string, list []*profile.FunctionDiff) {
	j.Array(key)
	for _, f := range list[:j.of.shown(len(list))] {
		j.Object("")
		j.Name("name", f.Name)
		if j.of.Demangle {
			j.Name("demangled", demangled.Name(f.Name))
		}
		j.Name("unit", f.Path)
		j.shares(f.First, f.Second, f.Change(), f.Overlap)
		j.End()
	}
	j.End()
}

func (j *diffJSON) units() {
	j.Array("units")
	for _, u := range j.of.units[:j.of.shown(len(j.of.units))] {
		j.Object("")
		j.Name("unit", u.Path)
		j.shares(u.First, u.Second, u.Change(), u.Overlap)
		j.Uint("first_functions", uint64(u.First.Functions))
		j.Uint("second_functions", uint64(u.Second.Functions))
		j.Uint("gained", uint64(u.Gained))
		j.Uint("lost", uint64(u.Lost))
		j.End()
	}
	j.End()
}

func (j *diffJSON) shares(first, second profile.Portion, change, overlap float64) {
	j.Uint("first_samples", first.Samples)
	j.Uint("second_samples", second.Samples)
	j.Float("first_share", first.Share)
	j.Float("second_share", second.Share)
	j.Float("change", change)
	j.Float("overlap", overlap)
}
