package create

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ProbeProfile makes a profile from pseudo probes, which clang adds to binaries that it compiles
// with -fpseudo-probe-for-profiling. Locations are probe numbers instead of lines, so debug info is
// not needed. Only LLVM's formats can hold such a profile. ProbeProfile ignores the options about
// lines and discriminators.
//
// It holds the probes of the functions with samples in memory, some fifty bytes each. Its errors
// are those of [Profile], and [ErrNoProbes].
func ProbeProfile(f *symbolize.File, set *samples.Set, o Options) (*sampleprof.Profile, *Report, error) {
	c := &creation{file: f, options: o, report: &Report{}}
	if err := c.choose(set); err != nil {
		return nil, c.report, err
	}
	b, err := c.newProbeBuilder()
	if err != nil {
		return nil, c.report, err
	}
	b.bodies = make(map[*symbolize.ProbedBody]*probeNode)
	b.counts()
	b.calls()
	for _, n := range b.nodes {
		if n.outer == nil {
			b.add(n)
		}
	}
	return b.finish(set)
}

// symbols returns the symbols of all sampled functions, with all names that their pseudo probes may
// use. It adds the weight of the functions below the threshold to the report.
func (c *creation) symbols() []symbolize.Symbol {
	var symbols []symbolize.Symbol
	for _, f := range c.functions {
		s := f.symbol
		s.Names = probedNames(s)
		symbols = append(symbols, s)
		if !f.written && f.weight > 0 {
			c.report.Below = saturating.Add(c.report.Below, f.weight)
			c.report.Dropped++
		}
	}
	return symbols
}

// probedNames returns the names that the pseudo probes of a function may use: the names of the
// symbol, and for a constructor for whole objects (C1) also that for base classes (C2). If both
// have the same code, the linker may keep the symbol C1 only, although the probes name C2.
func probedNames(s symbolize.Symbol) []string {
	names := slices.Clone(s.Names)
	for _, name := range s.Names {
		if base := baseStructor(name, "1"); base != name {
			names = append(names, base)
		}
	}
	return names
}

// A probeBuilder makes a profile whose locations are pseudo probes.
type probeBuilder struct {
	*creation
	profile *sampleprof.Profile
	probes  []symbolize.Probe // of the sampled functions, sorted by address
	byKey   map[probeKey]*probeNode
	nodes   []*probeNode                         // in the order of their creation
	bodies  map[*symbolize.ProbedBody]*probeNode // results of body
	called  map[*function]string                 // results of callee
}

// A probeKey identifies a probeNode: its function, the node of the caller, and the number of the
// call's probe in the caller.
type probeKey struct {
	outer    *probeNode // nil for a function without a known caller
	site     uint32
	function *symbolize.Probed
}

// A probeNode holds the records of a function. If the node has a caller, the records are those of
// the function when it is called or inlined at one probe of the caller. The binary may have several
// copies of the function's code there.
type probeNode struct {
	probeKey
	records   []sampleprof.Record
	total     uint64       // sum of the counts in records
	head      uint64       // number of entries
	inner     []*probeNode // nodes whose caller this one is
	isInlined bool         // the function is inlined into its caller; only set by a contextBuilder
}

// newProbeBuilder returns a builder with the probes of the sampled functions. It adds the weights
// of functions with probes, and of functions without probes, to the report.
func (c *creation) newProbeBuilder() (*probeBuilder, error) {
	probes, err := c.file.Probes(c.symbols())
	if err != nil {
		return nil, err
	}
	for _, f := range c.functions {
		switch {
		case !f.written:
		case len(within(probes, f.symbol.Low, f.symbol.High)) == 0:
			c.report.NoLines = saturating.Add(c.report.NoLines, f.weight)
		default:
			c.report.Placed = saturating.Add(c.report.Placed, f.weight)
		}
	}
	return &probeBuilder{
		creation: c, profile: &sampleprof.Profile{Probes: true}, probes: probes,
		byKey: make(map[probeKey]*probeNode), called: make(map[*function]string),
	}, nil
}

// finish completes the report and returns the profile that was built, or [ErrNoProbes] if it is
// empty.
func (b *probeBuilder) finish(set *samples.Set) (*sampleprof.Profile, *Report, error) {
	if len(b.nodes) == 0 {
		return nil, b.report, ErrNoProbes
	}
	b.report.Functions = b.profile.NumFunctions()
	b.report.Quality = b.judge(set)
	return b.profile, b.report, nil
}

// node returns the node of the profile with a key, and creates it if necessary.
func (b *probeBuilder) node(key probeKey) *probeNode {
	n := b.byKey[key]
	if n == nil {
		n = &probeNode{probeKey: key}
		b.byKey[key] = n
		b.nodes = append(b.nodes, n)
		if key.outer != nil {
			key.outer.inner = append(key.outer.inner, n)
		}
	}
	return n
}

// body returns the node of the profile for the counts of a function's body, which may be inlined.
// It creates the nodes of the bodies into which it is inlined if necessary. Number 0 stands for an
// unknown probe. A body inlined at probe 0 counts as a function that is not inlined.
func (b *probeBuilder) body(of *symbolize.ProbedBody) *probeNode {
	var missing []*symbolize.ProbedBody
	outer := b.bodies[of]
	for in := of; outer == nil; in = in.Caller {
		missing = append(missing, in)
		if in.Site == 0 {
			break
		}
		outer = b.bodies[in.Caller]
	}
	for _, in := range slices.Backward(missing) {
		outer = b.node(probeKey{outer, in.Site, in.Function})
		b.bodies[in] = outer
	}
	return outer
}

// counts adds the count of each pseudo probe to the profile's node for the function that contains
// the probe. If the recording has ranges or exact counts, this is the count of the instruction at
// the probe. Otherwise single addresses were sampled, which rarely coincide with a probe. Then it
// is the largest count of an instruction before the next probe.
func (b *probeBuilder) counts() {
	for _, f := range b.functions {
		if !f.written {
			continue
		}
		own, stretches := within(b.probes, f.symbol.Low, f.symbol.High), f.stretches()
		for i, p := range own {
			end := p.Address + 1
			if !b.sameUnit {
				end = f.symbol.High
				if next := within(own[i:], p.Address+1, f.symbol.High); len(next) > 0 {
					end = next[0].Address
				}
			}
			b.count(&p, most(stretches, p.Address, end))
		}
	}
}

// within returns the probes at addresses from low up to, but not including, high.
func within(probes []symbolize.Probe, low, high uint64) []symbolize.Probe {
	at := func(address uint64) int {
		i, _ := slices.BinarySearchFunc(probes, address, func(p symbolize.Probe, a uint64) int { return cmp.Compare(p.Address, a) })
		return i
	}
	return probes[at(low):at(high)]
}

// most returns the largest count of code at addresses from low up to, but not including, high.
// stretches has the counts by address.
func most(stretches []stretch, low, high uint64) (n uint64) {
	for _, s := range stretchesIn(stretches, low, high) {
		n = max(n, s.count)
	}
	return n
}

// count adds n to the count of a pseudo probe in the profile. The count is in the node for the
// function that contains the probe or, if the function was inlined, for this inlined call.
func (b *probeBuilder) count(p *symbolize.Probe, n uint64) {
	if !fits(p) {
		b.report.Unplaced = saturating.Add(b.report.Unplaced, n)
		return
	}
	body := b.body(p.Body)
	body.count(p.Index, p.Discriminator, n)
	if isEntry := p.Index == 1; isEntry {
		body.head = saturating.Add(body.head, n)
	}
}

// fits reports whether the profile format can hold a pseudo probe: the number of the probe, and the
// numbers of the call probes at which its body is inlined, have at most 16 bits.
func fits(p *symbolize.Probe) bool {
	for body := p.Body; body != nil; body = body.Caller {
		if body.Site > math.MaxUint16 {
			return false
		}
	}
	return p.Index <= math.MaxUint16
}

// calls adds to the profile which functions were called at each call probe, and how often.
func (b *probeBuilder) calls() {
	for _, f := range b.functions {
		if !f.written {
			continue
		}
		for _, c := range f.calls {
			if p := b.callProbe(c.from); p != nil && !c.callee.name.cold {
				b.body(p.Body).target(p.Index, p.Discriminator, b.name(b.callee(c.callee)), c.count)
			}
		}
	}
}

// callProbe returns the probe of the call instruction at an address, or nil if there is none.
func (b *probeBuilder) callProbe(addr uint64) *symbolize.Probe {
	at := within(b.probes, addr, addr+1)
	if i := slices.IndexFunc(at, func(p symbolize.Probe) bool { return p.Call }); i >= 0 && fits(&at[i]) {
		return &at[i]
	}
	return nil
}

// count adds a record with the count of a pseudo probe to a node. index is the number of the probe.
func (n *probeNode) count(index, discriminator uint32, count uint64) {
	n.records = append(n.records, sampleprof.Record{
		Kind: sampleprof.KindCount, Line: uint16(index), Discriminator: discriminator, Count: count,
	})
	n.total = saturating.Add(n.total, count)
}

// target adds a record to a node: the function name was called count times at the call probe with
// the number index.
func (n *probeNode) target(index, discriminator uint32, name sampleprof.NameRef, count uint64) {
	n.records = append(n.records, sampleprof.Record{
		Kind: sampleprof.KindTarget, Line: uint16(index), Discriminator: discriminator, Name: name, Count: count,
	})
}

// callee returns the name that the profile has for a called function. If pseudo probes use one of
// the function's names, callee returns that name.
func (b *probeBuilder) callee(f *function) string {
	name, known := b.called[f]
	if known {
		return name
	}
	name = f.name.name
	names := probedNames(f.symbol)
	for _, p := range within(b.probes, f.symbol.Low, f.symbol.High) {
		root := p.Body
		for root.Caller != nil {
			root = root.Caller
		}
		if slices.Contains(names, root.Function.Name) {
			name = root.Function.Name
			break
		}
	}
	b.called[f] = name
	return name
}

func (b *probeBuilder) name(name string) sampleprof.NameRef {
	return b.profile.AddName(sampleprof.Name{Text: name})
}

// add adds the function of the node root to the profile, with all bodies inlined into it.
func (b *probeBuilder) add(root *probeNode) {
	f := sampleprof.Function{Name: b.name(root.function.Name), HeadCount: root.head}
	f.Records, f.Total = b.flatten(root)
	b.profile.AddFunction(f)
}

// settle raises the count of each call probe in a node to the sum of the counts of the functions
// called there. It does not change the total of the node.
func (n *probeNode) settle() {
	type place struct {
		line          uint16
		discriminator uint32
	}
	called := make(map[place]uint64)
	for _, r := range n.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindTarget {
			called[at] = saturating.Add(called[at], r.Count)
		}
	}
	for _, r := range n.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindCount {
			called[at] -= min(called[at], r.Count)
		}
	}
	for i, r := range n.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindCount && called[at] > 0 {
			n.records[i].Count = saturating.Add(r.Count, called[at])
			delete(called, at)
		}
	}
}

// flatten converts a function with a tree of bodies inlined into it to the records of an LLVM
// sample profile. root is the node of the function in that tree. flatten also returns the sum of
// the counts of all these records.
func (b *probeBuilder) flatten(root *probeNode) ([]sampleprof.Record, uint64) {
	type open struct {
		body *probeNode
		head int // index of the KindInlined record of body
	}
	var records []sampleprof.Record
	stack := []open{{root, -1}}
	enter := func(body *probeNode) {
		body.settle()
		records = append(records, sampleprof.Record{Kind: sampleprof.KindChecksum, Count: body.function.Checksum})
		records = append(records, body.records...)
	}
	enter(root)
	for {
		top := &stack[len(stack)-1]
		if n := len(top.body.inner); n > 0 {
			inner := top.body.inner[n-1]
			top.body.inner = top.body.inner[:n-1]
			stack = append(stack, open{inner, len(records)})
			records = append(records, sampleprof.Record{Kind: sampleprof.KindInlined, Line: uint16(inner.site), Name: b.name(inner.function.Name)})
			enter(inner)
			continue
		}
		total := top.body.total
		if len(stack) == 1 {
			return records, total
		}
		records[top.head].Count, records[top.head].Span = total, uint32(len(records)-top.head-1)
		stack = stack[:len(stack)-1]
		outer := stack[len(stack)-1].body
		outer.total = saturating.Add(outer.total, total)
	}
}
