package create

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ContextProfile makes a context-sensitive profile from pseudo probes. In contrast to
// [ProbeProfile], a function has separate counts for each chain of calls in which it ran, inlined
// or not. Only samples with both a call stack and a branch stack count, see
// [samples.Options.Contexts]. ContextProfile decodes code of x86 and AArch64. It holds all contexts
// in memory: some hundred bytes for each different context, and as many for each probe in a
// context.
//
// Its errors are those of ProbeProfile, and [ErrNoContexts].
func ContextProfile(f *symbolize.File, set *samples.Set, o Options) (*sampleprof.Profile, *Report, error) {
	c := &creation{file: f, options: o, report: &Report{}}
	if err := c.choose(set); err != nil {
		return nil, c.report, err
	}
	if set.NumTraces() == 0 || newDecoder(f.ELF()) == nil {
		return nil, c.report, ErrNoContexts
	}
	u, err := unwind(f, set)
	if err != nil {
		return nil, c.report, err
	}
	if c.addCallers(u); u.err != nil {
		return nil, c.report, u.err
	}
	b, err := c.newContextBuilder(u)
	if err != nil {
		return nil, c.report, err
	}
	for _, key := range slices.Sorted(maps.Keys(u.contexts)) {
		b.context(u.contexts[key])
	}
	for _, n := range b.nodes {
		b.add(n)
	}
	return b.finish(set)
}

// addCallers adds functions that occur only in call stacks, without samples and branches of their
// own. An example is a main that only calls functions that run long.
func (c *creation) addCallers(u *unwinder) {
	known := make(map[uint64]bool, len(c.functions))
	for _, f := range c.functions {
		known[f.symbol.Low] = true
	}
	for _, counts := range u.contexts {
		for _, call := range counts.calls {
			if s, ok := u.symbol(call); ok && !known[s.Low] {
				known[s.Low] = true
				c.functions = append(c.functions, &function{symbol: s, name: c.options.Suffixes.canonical(s.Names[0])})
			}
		}
	}
	c.sortFunctions()
}

// A contextFrame is a caller in a call stack: a function, and the probe at which it calls the next
// function.
type contextFrame struct {
	function *symbolize.Probed
	site     uint32
}

// A contextBuilder makes a context-sensitive profile. A context is the chain of calls that led to
// some code.
type contextBuilder struct {
	*probeBuilder
	blocks map[*symbolize.ProbedBody][]int // indexes of each body's probes in probes
	tails  *tailCalls

	at     *contextCounts                       // the current context
	stacks map[string][]contextFrame            // results of callsOf in the current context, by name of the function
	leaves map[*symbolize.ProbedBody]*probeNode // nodes of bodies in the current context
}

func (c *creation) newContextBuilder(u *unwinder) (*contextBuilder, error) {
	probes, err := c.newProbeBuilder()
	if err != nil {
		return nil, err
	}
	probes.profile.ContextSensitive = true
	b := &contextBuilder{probeBuilder: probes, blocks: make(map[*symbolize.ProbedBody][]int)}
	for i, p := range b.probes {
		b.blocks[p.Body] = append(b.blocks[p.Body], i)
	}
	b.tails = b.newTailCalls(u)
	return b, nil
}

// function returns the function that contains an address, or nil.
func (b *contextBuilder) function(addr uint64) *function {
	i, _ := slices.BinarySearchFunc(b.functions, addr, func(f *function, addr uint64) int { return cmp.Compare(f.symbol.High, addr+1) })
	if i < len(b.functions) && b.functions[i].symbol.Low <= addr {
		return b.functions[i]
	}
	return nil
}

// context adds the counts of the code that ran in one calling context to the profile's nodes for
// the functions in that context.
func (b *contextBuilder) context(c *contextCounts) {
	b.at, b.stacks = c, make(map[string][]contextFrame)
	b.leaves = make(map[*symbolize.ProbedBody]*probeNode)
	b.countBlocks(c)
	b.countCalls(c)
}

// callsOf returns the callers of the function leaf in the current calling context, outermost first.
// A function that made a tail call is missing on the recorded stack. callsOf adds it if the
// recorded jumps show which function it was.
func (b *contextBuilder) callsOf(leaf string) []contextFrame {
	frames, known := b.stacks[leaf]
	if known {
		return frames
	}
	for i, call := range b.at.calls {
		frames = b.appendCall(frames, call)
		next := leaf
		if i+1 < len(b.at.calls) {
			f := b.function(b.at.calls[i+1])
			if f == nil {
				continue
			}
			next = f.name.name
		}
		for _, jump := range b.tails.between(call, next) {
			frames = b.appendCall(frames, jump)
		}
	}
	b.stacks[leaf] = frames
	return frames
}

// appendCall appends the function that contains the call instruction at an address to frames,
// preceded by the functions into which it is inlined there. It returns nil if the call has no
// pseudo probe, because a compiler cannot use the callers outside of such a call.
func (b *contextBuilder) appendCall(frames []contextFrame, addr uint64) []contextFrame {
	p := b.callProbe(addr)
	if p == nil {
		return nil
	}
	return appendFrames(frames, p.Body, p.Index)
}

// appendFrames appends the function of a body to frames, preceded by the functions into which the
// body is inlined. index is the number of the probe in the body at which the next function is
// called. Probe 0 means that clang has lost the place where a body was inlined, so its callers are
// unknown. appendFrames then drops all frames before it.
func appendFrames(frames []contextFrame, body *symbolize.ProbedBody, index uint32) []contextFrame {
	first := len(frames)
	for ; body != nil; body = body.Caller {
		frames = append(frames, contextFrame{body.Function, index})
		if index = body.Site; index == 0 && body.Caller != nil {
			frames, first = frames[first:], 0
			break
		}
	}
	slices.Reverse(frames[first:])
	return frames
}

// leaf returns the node of the profile for the counts of a body in the current calling context. of
// is the symbol of the binary that contains the body's code.
func (b *contextBuilder) leaf(body *symbolize.ProbedBody, of *function) *probeNode {
	if n := b.leaves[body]; n != nil {
		return n
	}
	frames := appendFrames(slices.Clone(b.callsOf(of.name.name)), body, 0)
	last := len(frames) - 1
	calls := withoutRecursion(frames[:last])
	var n *probeNode
	site := uint32(0)
	for _, f := range calls {
		n, site = b.node(probeKey{n, site, f.function}), f.site
	}
	n = b.node(probeKey{n, site, body.Function})
	b.leaves[body] = n
	for in := n; in != nil && body.Caller != nil; in, body = in.outer, body.Caller {
		in.isInlined = true
	}
	return n
}

// countBlocks adds the counts of the blocks that ran in a calling context to the nodes of the
// profile. c has the recorded ranges of code. The entry of an inlined function also counts as a
// call of it. Blocks that did not run get a count of 0 if another block of the same body ran.
func (b *contextBuilder) countBlocks(c *contextCounts) {
	counts := make(map[int]uint64)
	for r, n := range c.ranges {
		f := b.function(r.begin)
		if f == nil || !f.written {
			continue
		}
		first := len(b.probes) - len(within(b.probes, r.begin, math.MaxUint64))
		for i := range within(b.probes, r.begin, min(r.end+1, f.symbol.High)) {
			counts[first+i] = saturating.Add(counts[first+i], n)
		}
	}
	bodies := make(map[*symbolize.ProbedBody]bool)
	for _, i := range slices.Sorted(maps.Keys(counts)) {
		p, n := &b.probes[i], counts[i]
		if p.Call || n == 0 {
			continue
		}
		if !fits(p) {
			b.report.Unplaced = saturating.Add(b.report.Unplaced, n)
			continue
		}
		bodies[p.Body] = true
		node := b.leaf(p.Body, b.function(p.Address))
		node.count(p.Index, p.Discriminator, n)
		if p.Index != 1 {
			continue
		}
		node.head = saturating.Add(node.head, n)
		if p.Body.Caller != nil && node.outer != nil {
			node.outer.count(node.site, 0, n)
			node.outer.target(node.site, 0, b.name(node.function.Name), n)
		}
	}
	for body := range bodies {
		for _, i := range b.blocks[body] {
			if p := &b.probes[i]; fits(p) {
				b.leaves[body].count(p.Index, p.Discriminator, 0)
			}
		}
	}
}

// countCalls adds the calls that were recorded in a calling context, and the functions that they
// called, to the nodes of the profile.
func (b *contextBuilder) countCalls(c *contextCounts) {
	for _, branch := range slices.SortedFunc(maps.Keys(c.branches), codeBranch.compare) {
		n := c.branches[branch]
		p, caller := b.callProbe(branch.from), b.function(branch.from)
		if p == nil || !caller.written {
			continue
		}
		node := b.leaf(p.Body, caller)
		node.count(p.Index, 0, n)
		if f := b.function(branch.to); f != nil && f.symbol.Low == branch.to && !f.name.cold {
			node.target(p.Index, p.Discriminator, b.name(b.callee(f)), n)
		}
	}
}

// add adds the records of a node to the profile, as a function with the calling context of the
// node.
func (b *contextBuilder) add(n *probeNode) {
	if len(n.records) == 0 {
		return
	}
	f := sampleprof.Function{Name: b.name(n.function.Name), Total: n.total, HeadCount: n.head}
	f.Records = append(n.records, sampleprof.Record{Kind: sampleprof.KindChecksum, Count: n.function.Checksum})
	if n.isInlined {
		f.Records = append(f.Records, sampleprof.Record{Kind: sampleprof.KindAttributes, Count: sampleprof.AttributeInlined})
	}
	f.Context = append(f.Context, sampleprof.Frame{Name: f.Name})
	for in, site := n.outer, n.site; in != nil; in, site = in.outer, in.site {
		f.Context = append(f.Context, sampleprof.Frame{Name: b.name(in.function.Name), Line: uint16(site)})
	}
	slices.Reverse(f.Context)
	b.profile.AddFunction(f)
}
