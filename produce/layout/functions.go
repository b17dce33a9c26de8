package layout

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
)

// OrderFunctions orders functions, but not their blocks. Each function of the symbol table counts
// as one block, so the program needs no block address map. It works with any compiler, for programs
// that are compiled with -ffunction-sections, and with linkers that accept an order of sections.
//
// Functions of the Layout have no clusters. Otherwise it is like [New], with the same errors except
// those of package bbmap.
func OrderFunctions(ctx context.Context, f *symbolize.File, set *samples.Set, o Options) (*Layout, *Report, error) {
	p := &program{file: f, report: new(Report), hot: make(map[int32]*function)}
	if err := p.readSymbols(); err != nil {
		return nil, p.report, err
	}
	l, err := p.make(ctx, set, o)
	if err == nil {
		for i := range l.list.Functions {
			l.list.Functions[i].Clusters, l.Split[i] = nil, false
		}
	}
	return l, p.report, err
}

// readSymbols adds a function to the program for each function symbol, with the range of its code
// as a single block.
func (p *program) readSymbols() error {
	for s, err := range p.file.Symbols() {
		if err != nil {
			return err
		}
		p.ranges = append(p.ranges, codeRange{s.Low, s.High, int32(len(p.ranges)), true})
	}
	p.report.Functions = len(p.ranges)
	slices.SortFunc(p.ranges, func(a, b codeRange) int { return cmp.Compare(a.low, b.low) })
	return nil
}
