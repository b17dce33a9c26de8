// Package layout decides where clang and lld place the blocks and functions of a program, from a
// recording of the program: code that runs together becomes adjacent, and code that did not run
// goes elsewhere. Propeller is the name of this technique.
//
//	f, err := symbolize.Open("prog")
//	set, _, err := samples.Read(in, binary, samples.Options{Jumps: true})
//	l, report, err := layout.New(ctx, f, set, layout.Options{})
//	err = l.Functions.Write(ccProfile, list.V1)
//	err = l.WriteSymbols(ldProfile)
//
// The program has a block address map: it was compiled with -fbasic-block-address-map.
// docs/guide/layout.md describes the way from a recording to a faster program, and what it gains.
package layout

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/layout/internal/cdsort"
	"github.com/go-afdo/afdo/produce/layout/internal/exttsp"
)

// ErrDrift is returned if so few branches fit the block address map that the recording must be of
// another build.
var ErrDrift = errors.New("the recording does not fit the program's block address map")

// errNothing is returned if no function of the block address map ran.
var errNothing = errors.New("no function with a block address map ran")

// Options say how a Layout is made.
type Options struct {
	// Progress is called from time to time with the number of functions done and of all, from one
	// goroutine. It may be nil.
	Progress func(done, all int)
}

// A Layout is an order of a program's blocks and functions.
type Layout struct {
	// Functions contains the functions that ran, in the order of their addresses, with the blocks
	// that ran in the order of the layout. Blocks that did not run are in no cluster.
	Functions list.List

	// Order contains the indexes of Functions in the order of the layout.
	Order []int

	// Split says of each of Functions that it has blocks that are in no cluster.
	Split []bool
}

// New makes a layout from a recording of a program. The Set should have been read with
// [samples.Options].Jumps. Landings of the Set need their ends first: see create.EndRanges.
//
// It reads the whole block address map once, and holds the blocks of the functions that ran in
// memory. The same input always gives the same layout. Its errors are those of packages bbmap and
// symbolize, [ErrDrift] and errNothing. The report is returned with the last two as well.
func New(ctx context.Context, f *symbolize.File, set *samples.Set, o Options) (*Layout, *Report, error) {
	m, err := bbmap.New(f.ELF())
	if err != nil {
		return nil, new(Report), err
	}
	p := &program{file: f, blocks: m, report: new(Report), hot: make(map[int32]*function)}
	if err := p.readMap(); err != nil {
		return nil, p.report, err
	}
	l, err := p.make(ctx, set, o)
	return l, p.report, err
}

// make makes a layout of the functions that are known.
func (p *program) make(ctx context.Context, set *samples.Set, o Options) (*Layout, error) {
	for _, step := range []func() error{
		func() error { return p.count(set) },
		p.report.check,
		p.name,
		ctx.Err,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.order(ctx, o)
}

// WriteSymbols writes the symbols of the functions that ran, and then of the parts that did not, as
// lld takes them with --symbol-ordering-file. Names of local symbols that occur in several files
// are not there. The error matches afdo.ErrUnrepresentable for a name that lld takes for something
// else.
func (l *Layout) WriteSymbols(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, i := range l.Order {
		if name := l.Functions.Functions[i].Names[0]; !list.IsName(name) || name[0] == '#' {
			return fmt.Errorf("layout: %w: the name %q in a list of symbols", afdo.ErrUnrepresentable, name)
		}
	}
	for _, i := range l.Order {
		out.WriteString(l.Functions.Functions[i].Names[0] + "\n")
	}
	for _, i := range l.Order {
		if l.Split[i] {
			out.WriteString(l.Functions.Functions[i].Names[0] + ".cold\n")
		}
	}
	return out.Flush()
}

// OrderFunctions decides the order of functions alone. The program needs no block address map: each
// function of the symbol table counts as one block. So it works with any compiler and with linkers
// that take the order of sections, for programs that are compiled with -ffunction-sections.
//
// Functions of the Layout have no clusters. Otherwise it is like [New], and has the same errors but
// for those of package bbmap.
func OrderFunctions(ctx context.Context, f *symbolize.File, set *samples.Set, o Options) (*Layout, *Report, error) {
	p := &program{file: f, report: new(Report), hot: make(map[int32]*function)}
	if err := p.readSymbols(); err != nil {
		return nil, p.report, err
	}
	l, err := p.make(ctx, set, o)
	if err == nil {
		for i := range l.Functions.Functions {
			l.Functions.Functions[i].Clusters, l.Split[i] = nil, false
		}
	}
	return l, p.report, err
}

// readSymbols makes a function of one block of each symbol.
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

// A Report says what became of a recording.
type Report struct {
	// Counted is the kind of the counts.
	Counted Counted

	// Branches is the number of times that branches of the recording were taken. Edges, Calls and
	// Returns are parts of it. Middle is the part that leads into the middle of a block without
	// being a return, and Unmapped the part with an end that is in no block of the map.
	Branches, Edges, Calls, Returns, Middle, Unmapped uint64

	// FallThroughs is the number of times that straight-line ranges of the recording ran. Crossing
	// is the part that cannot have run: a range in several functions, or over a block that code
	// always leaves.
	FallThroughs, Crossing uint64

	Functions int // in the map
	Hot       int // functions that ran
	HotBlocks int // blocks that ran, in functions that are in the layout
	Blocks    int // all blocks of functions that are in the layout

	// Functions that ran but are not in the layout.
	WithoutSymbol int // no symbol has their address
	OtherSection  int // they are in sections other than .text and .text.*, such as .init.text
	Ambiguous     int // their name occurs several times in the program
	Unusable      int // a block ID occurs twice, or the list cannot hold the name
}

// Counted is a kind of counts.
type Counted int

const (
	// CountedStacks are branch stacks: branches and the code between two of them.
	CountedStacks Counted = iota
	// CountedExact counts are callgrind's counts of instructions and jumps.
	CountedExact
	// CountedEstimates are counts of instructions without jumps. Blocks keep their order. Only
	// functions move, and blocks that certainly did not run.
	CountedEstimates
)

// Limits of drift, the same as in llvm-propeller.
const (
	maxMiddle = 0.3    // share of the branches that lead into the middle of blocks
	minEdges  = 0.0005 // share of the branches that became edges or calls
)

// EdgeShare returns the share of the branches that became edges of functions, calls or returns, or
// 0 without branches.
func (r *Report) EdgeShare() float64 {
	used := saturating.Add(saturating.Add(r.Edges, r.Calls), r.Returns)
	return float64(used) / max(float64(r.Branches), 1)
}

// check returns an error if the recording does not fit the map.
func (r *Report) check() error {
	branches := float64(r.Branches)
	switch {
	case r.Hot == 0:
		return errNothing
	case float64(r.Middle) > maxMiddle*branches:
		return fmt.Errorf("%w: %.0f%% of the branches lead into the middle of blocks", ErrDrift, 100*float64(r.Middle)/branches)
	case branches > 0 && float64(r.Edges)+float64(r.Calls) < minEdges*branches:
		return fmt.Errorf("%w: %.2f%% of the branches lead from block to block", ErrDrift, 100*(float64(r.Edges)+float64(r.Calls))/branches)
	}
	return nil
}

// name finds the names of the functions that ran. It leaves out functions without a symbol,
// functions in sections that are not .text, and functions that share their name with another one,
// because a list cannot distinguish them.
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

// usable reports whether a function can be in the list.
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

// order decides the order of blocks and functions.
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
		l.Functions.Functions = append(l.Functions.Functions, one)
		l.Split = append(l.Split, len(order) < len(f.blocks))
		p.report.HotBlocks += len(order)
		p.report.Blocks += len(f.blocks)
		sizes[i], calls = f.measure(p, order, calls)
	}
	l.Order = cdsort.Order(sizes, calls)
	return l, nil
}

// order returns the blocks of the function's hot part in the order of the layout, or in the order
// of their addresses if there are no edges. If any landing pad is hot, all landing pads are in the
// hot part: clang moves them to another section if they are in different ones. The blocks that are
// left out are cold: clang splits them off.
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

// chain returns blocks in an order with a high ExtTSP score: few taken jumps, and short ones.
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

// measure returns the size of the hot part and how often it was entered, and adds the calls from
// it.
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
