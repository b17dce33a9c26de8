package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/profile"
)

// A tally is the counts of a profile by verdict.
type tally struct {
	counts [numVerdicts]uint64
	lost   map[string]uint64 // by verdict, path and place
}

// judge tallies the counts of a profile by the best that any of the sources says.
func judge(units []*judgement, p *profile.Profile) *tally {
	t := &tally{lost: make(map[string]uint64)}
	for s, f := range p.Functions() {
		frames := []frame{{name: p.SymbolName(s)}}
		records := profile.Walk(f.Records)
		for r, depth, ok := records.Next(); ok; r, depth, ok = records.Next() {
			frames = frames[:depth+1]
			frames[depth].place = placeOf(r)
			switch r.Kind {
			case profile.KindInlined:
				frames = append(frames, frame{name: p.SymbolName(r.Callee)})
			case profile.KindCount:
				t.count(units, frames, r.Count)
			}
		}
	}
	return t
}

func (t *tally) count(units []*judgement, frames []frame, n uint64) {
	v := foreign
	for _, j := range units {
		v = min(v, j.of(frames))
	}
	t.counts[v] += n
	if v > apart {
		t.lost[verdictNames[v]+": "+newJudgement().path(frames)+" "+frames[len(frames)-1].place] += n
	}
}

// judgeDumps prints how much of a profile GCC has found, and the largest counts that it has not.
func judgeDumps(w io.Writer, path string, dumps []string, most int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := gcov.Decode(data)
	if err != nil {
		return err
	}
	var units []*judgement
	for _, dump := range dumps {
		f, err := os.Open(dump)
		if err != nil {
			return err
		}
		j := newJudgement()
		err = j.read(f)
		f.Close()
		if err != nil {
			return err
		}
		units = append(units, j)
	}
	t := judge(units, p)
	sum := uint64(0)
	for _, n := range t.counts {
		sum += n
	}
	for v, n := range t.counts {
		fmt.Fprintf(w, "%s\t%.2f %%\n", verdictNames[v], 100*float64(n)/float64(sum))
	}
	lost := slices.SortedFunc(maps.Keys(t.lost), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.lost[b], t.lost[a]), cmp.Compare(a, b))
	})
	for _, what := range lost[:min(most, len(lost))] {
		fmt.Fprintf(w, "%.2f %%\t%s\n", 100*float64(t.lost[what])/float64(sum), what)
	}
	return nil
}
