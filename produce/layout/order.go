package layout

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/go-afdo/afdo/internal/bbmap"
	list "github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/produce/layout/internal/cdsort"
	"github.com/go-afdo/afdo/produce/layout/internal/exttsp"
)

// name sets the names of the functions that ran, and adds them to p.functions. It leaves out
// functions that the layout cannot contain, see usable.
func (p *program) name() error {
	p.readSections()
	byAddress := make(map[uint64]*function)
	for _, f := range p.hot {
		if f.blocks[0].count > 0 {
			byAddress[f.address] = f
		}
	}
	functionsOf := make(map[string]int)
	for s, err := range p.file.Symbols() {
		if err != nil {
			return err
		}
		if f := byAddress[s.Low]; f != nil {
			f.names = s.Names
			for _, name := range s.Names {
				functionsOf[name] = 0
			}
		}
	}
	for s, err := range p.file.Symbols() {
		if err != nil {
			return err
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(s.Names))) {
			if n, ok := functionsOf[name]; ok {
				functionsOf[name] = n + 1
			}
		}
	}
	for _, address := range slices.Sorted(maps.Keys(byAddress)) {
		if f := byAddress[address]; p.usable(f, functionsOf) {
			f.place = len(p.functions)
			p.functions = append(p.functions, f)
		}
	}
	if len(p.functions) == 0 {
		return errNothing
	}
	return nil
}

// usable reports whether the layout can contain a function. If not, it counts the reason in the
// report. functionsOf has the number of functions with each name.
func (p *program) usable(f *function, functionsOf map[string]int) bool {
	if len(f.names) == 0 {
		p.report.WithoutSymbol++
		return false
	}
	if !p.isOrdinary(f.address) {
		p.report.OtherSection++
		return false
	}
	// Some names of an alias may be local and occur several times; one that is unique is enough.
	seen := make(map[string]bool)
	f.names = slices.DeleteFunc(slices.Clone(f.names), func(name string) bool {
		bad := functionsOf[name] > 1 || seen[name]
		seen[name] = true
		return bad
	})
	if len(f.names) == 0 {
		p.report.Ambiguous++
		return false
	}
	ids := make(map[uint32]bool)
	for i := range f.blocks {
		ids[f.blocks[i].id] = true
	}
	if len(ids) < len(f.blocks) || slices.ContainsFunc(f.names, func(name string) bool { return !list.IsName(name) }) {
		p.report.Unusable++
		return false
	}
	return true
}

// order computes the order of the blocks in each function, and then the order of the functions.
func (p *program) order(ctx context.Context, o Options) (*Layout, error) {
	l := new(Layout)
	sizes := make([]cdsort.Function, len(p.functions))
	var calls []cdsort.Call
	for i, f := range p.functions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil && i%1000 == 0 {
			o.Progress(i, len(p.functions))
		}
		order := f.order(p.report.Counted != CountedEstimates)
		one := list.Function{Names: f.names, Clusters: [][]list.Block{make([]list.Block, 0, len(order))}}
		hashed := slices.ContainsFunc(f.blocks, func(b block) bool { return b.hash != 0 })
		for _, b := range order {
			one.Clusters[0] = append(one.Clusters[0], list.Block{ID: f.blocks[b].id})
			if hashed {
				one.Hashes = append(one.Hashes, list.Hash{ID: f.blocks[b].id, Hash: f.blocks[b].hash & bbmap.SteadyMask})
			}
		}
		l.list.Functions = append(l.list.Functions, one)
		l.Split = append(l.Split, len(order) < len(f.blocks))
		p.report.HotBlocks += len(order)
		p.report.Blocks += len(f.blocks)
		sizes[i], calls = f.measure(p, order, calls)
	}
	l.Order = cdsort.Order(sizes, calls)
	return l, nil
}

// order returns the indexes of those blocks of a function that the layout places together: the
// blocks that ran, in an order with few and short jumps. If there are no edges, they keep the order
// of their addresses. clang moves all other blocks to a cold section. If any landing pad ran, order
// appends the landing pads that did not run, because clang requires all of them in one section.
func (f *function) order(hasEdges bool) []int {
	var hot, coldPads []int
	hotPad := false
	for i := range f.blocks {
		isPad := f.blocks[i].flags&bbmap.IsLandingPad != 0
		switch {
		case f.blocks[i].count > 0:
			hot = append(hot, i)
			hotPad = hotPad || isPad
		case isPad:
			coldPads = append(coldPads, i)
		}
	}
	order := hot
	if hasEdges {
		order = f.chain(hot)
	}
	if hotPad {
		order = append(order, coldPads...)
	}
	return order
}

// chain returns the blocks hot in an order with a high ExtTSP score: few taken jumps, and short
// ones.
func (f *function) chain(hot []int) []int {
	indexOf := make(map[int32]int, len(hot))
	blocks := make([]exttsp.Block, len(hot))
	for place, i := range hot {
		indexOf[int32(i)] = place
		blocks[place] = exttsp.Block{Size: uint64(f.blocks[i].size), Count: f.blocks[i].count}
	}
	var edges []exttsp.Edge
	for _, key := range slices.SortedFunc(maps.Keys(f.edges), compareEdges) {
		edges = append(edges, exttsp.Edge{From: indexOf[key[0]], To: indexOf[key[1]], Count: f.edges[key]})
	}
	order := exttsp.Order(blocks, edges)
	for i, place := range order {
		order[i] = hot[place]
	}
	return order
}

// measure returns the size of the function's blocks that ran, which order lists, and how often the
// function was entered. It also appends the calls that the function makes to calls.
func (f *function) measure(p *program, order []int, calls []cdsort.Call) (cdsort.Function, []cdsort.Call) {
	offsets := make(map[int32]uint64, len(order))
	size := uint64(0)
	for _, b := range order {
		offsets[int32(b)] = size + uint64(f.blocks[b].size)/2
		size += uint64(f.blocks[b].size)
	}
	for _, c := range slices.SortedFunc(maps.Keys(f.calls), func(a, b call) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.callee, b.callee))
	}) {
		if callee := p.hot[c.callee]; callee != nil && callee.place >= 0 {
			calls = append(calls, cdsort.Call{From: f.place, To: callee.place, Offset: offsets[c.from], Count: f.calls[c]})
		}
	}
	return cdsort.Function{Size: size, Count: f.entries}, calls
}
