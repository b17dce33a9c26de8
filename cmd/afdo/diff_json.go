package main

import (
	"strconv"

	"github.com/go-afdo/afdo/profile"
)

// A diffJSON writes a diffReport as JSON.
type diffJSON struct {
	jsonWriter
	of *diffReport
}

func (j *diffJSON) report() error {
	r := j.of
	j.object("")
	j.side("first", 0, r.diff.First)
	j.side("second", 1, r.diff.Second)
	j.bool("equal", r.difference == nil)
	if r.difference != nil {
		j.name("difference", r.difference.Error())
	}
	j.overlap(&r.diff.Overlap)
	j.functions("changed", r.changed)
	j.functions("gained", r.gained)
	j.functions("lost", r.lost)
	j.units()
	j.object("left_out")
	for _, list := range []struct {
		key string
		n   int
	}{{"changed", len(r.changed)}, {"gained", len(r.gained)}, {"lost", len(r.lost)}, {"units", len(r.units)}} {
		j.uint(list.key, uint64(list.n-r.shown(list.n)))
	}
	j.end()
	j.end()
	return j.finish()
}

func (j *diffJSON) side(key string, which int, p profile.Portion) {
	j.object(key)
	j.name("file", j.of.paths[which])
	j.uint("samples", p.Samples)
	j.uint("functions", uint64(p.Functions))
	j.uint("units", uint64(j.of.numUnits[which]))
	j.end()
}

func (j *diffJSON) overlap(o *profile.Overlap) {
	j.object("overlap")
	j.float("similarity", o.Similarity)
	j.float("functions", o.Functions)
	j.float("locations", o.Locations)
	j.float("counts", o.Counts)
	j.float("only_first", o.OnlyFirst)
	j.float("only_second", o.OnlySecond)
	j.end()
}

func (j *diffJSON) functions(key string, list []*profile.FunctionDiff) {
	j.array(key)
	for _, f := range list[:j.of.shown(len(list))] {
		j.object("")
		j.name("name", f.Name)
		if j.of.demangle {
			j.name("demangled", demangled(f.Name))
		}
		j.name("unit", f.Path)
		j.shares(f.First, f.Second, f.Change(), f.Overlap)
		j.end()
	}
	j.end()
}

func (j *diffJSON) units() {
	j.array("units")
	for _, u := range j.of.units[:j.of.shown(len(j.of.units))] {
		j.object("")
		j.name("unit", u.Path)
		j.shares(u.First, u.Second, u.Change(), u.Overlap)
		j.uint("first_functions", uint64(u.First.Functions))
		j.uint("second_functions", uint64(u.Second.Functions))
		j.uint("gained", uint64(u.Gained))
		j.uint("lost", uint64(u.Lost))
		j.end()
	}
	j.end()
}

func (j *diffJSON) shares(first, second profile.Portion, change, overlap float64) {
	j.uint("first_samples", first.Samples)
	j.uint("second_samples", second.Samples)
	j.float("first_share", first.Share)
	j.float("second_share", second.Share)
	j.float("change", change)
	j.float("overlap", overlap)
}

func (j *diffJSON) float(key string, x float64) {
	j.next(key)
	j.buf = strconv.AppendFloat(j.buf, x, 'f', -1, 64)
}
