package compile

import (
	"context"
	"slices"

	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

// explainedFiles are the files that compiles read and of which a profile has marks.
type explainedFiles struct {
	files *rebase.Files
	sums  map[string]uint32  // by the path of the unit
	same  map[string]bool    // the units whose file is as it was
	moved map[[2]string]bool // by unit and symbol: functions whose lines were found
}

// readBy finds the files that compiles read, if the profile remembers any. A source that cannot be
// preprocessed has none: to compile it says why.
func readBy(ctx context.Context, p *profile.Profile, compiles []compile, jobs int) *explainedFiles {
	f := &explainedFiles{files: rebase.NewFiles(nil), sums: make(map[string]uint32), same: make(map[string]bool), moved: make(map[[2]string]bool)}
	for u := range p.NumUnits() {
		if sum := p.UnitSum(profile.UnitRef(u)); sum != 0 {
			f.sums[p.UnitPath(profile.UnitRef(u))] = sum
		}
	}
	if len(f.sums) == 0 {
		return f
	}
	read := make([][]string, len(compiles))
	_ = inParallel(len(compiles), jobs, func(i int) error {
		if in, err := compiles[i].command.Inputs(ctx, nil); err == nil {
			read[i] = in.Paths(compiles[i].command.Line)
		}
		return nil
	})
	paths := slices.Concat(read...)
	slices.Sort(paths)
	f.files = rebase.NewFiles(slices.Compact(paths))
	for unit, sum := range f.sums {
		f.same[unit] = f.files.Same(unit, sum)
	}
	return f
}

// placed reports whether the lines of a function are known to be where the profile has them.
func (f *explainedFiles) placed(unit, symbol string) bool {
	return f.same[unit] || f.moved[[2]string{unit, symbol}]
}

// move moves counts as "afdo exec" does, and returns of how many functions that have any.
func (f *explainedFiles) move(p *profile.Profile) (*profile.Profile, int) {
	q, report := f.files.Slice(p)
	n := 0
	if report == nil {
		return q, n
	}
	for _, g := range report.Functions {
		if g.Outcome == rebase.Unknown || g.Outcome == rebase.Lost {
			continue
		}
		f.moved[[2]string{g.NewUnit, g.NewSymbol}] = true
		if g.Outcome != rebase.Unchanged && g.Samples > 0 {
			n++
		}
	}
	return q, n
}
