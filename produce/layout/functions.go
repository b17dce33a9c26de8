package layout

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/bbmap"
)

// OrderFunctions orders functions, but not their blocks. The program needs no block address map,
// because each function of the symbol table counts as one block. So it works with any compiler, and
// with linkers that accept an order of sections, for programs that are compiled with
// -ffunction-sections.
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

// readSymbols adds a function with a single block for each symbol.
func (p *program) readSymbols() error {
	for s, err := range p.file.Symbols() {
		if err != nil {
			return err
		}
		index := int32(len(p.ranges))
		p.ranges = append(p.ranges, codeRange{s.Low, s.High, index, true})
		p.whole = append(p.whole, function{index: index, address: s.Low, place: -1, blocks: []block{{
			address: s.Low, size: uint32(min(s.High-s.Low, 1<<32-1)), flags: bbmap.HasReturn, ends: true, calls: true,
		}}})
	}
	p.report.Functions = len(p.whole)
	slices.SortFunc(p.ranges, func(a, b codeRange) int { return cmp.Compare(a.low, b.low) })
	return nil
}
