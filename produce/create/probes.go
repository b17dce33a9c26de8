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
// not needed. Only LLVM's formats can hold such a profile. It ignores the options about lines and
// discriminators.
//
// It holds the probes of the functions with samples in memory, some fifty bytes each. Its errors
// are those of [Profile], and [ErrNoProbes].
func ProbeProfile(f *symbolize.File, set *samples.Set, o Options) (*sampleprof.Profile, *Report, error) {
	c := &creation{file: f, options: o, report: &Report{}}
	if err := c.choose(set); err != nil {
		return nil, c.report, err
	}
	probes, err := f.Probes(c.symbols())
	if err != nil {
		return nil, c.report, err
	}
	b := probeBuilder{
		creation: c, profile: &sampleprof.Profile{Probes: true},
		bodies: make(map[bodyKey]*probedBody), known: make(map[*symbolize.ProbedBody]*probedBody), called: make(map[*function]string),
	}
	b.counts(probes)
	b.calls(probes)
	if len(b.roots) == 0 {
		return nil, c.report, ErrNoProbes
	}
	for _, r := range b.roots {
		b.add(r)
	}
	c.report.Functions = b.profile.NumFunctions()
	c.report.Quality = c.judge(set)
	return b.profile, c.report, nil
}

// symbols returns the symbols of all sampled functions, with all names that their probes may use.
// It adds the functions below the threshold to the report.
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

// probedNames returns the names that the probes of a function may have. If the constructors for
// whole objects (C1) and for base classes (C2) have the same code, the linker may keep symbol C1,
// although the probes name C2.
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
	bodies  map[bodyKey]*probedBody
	known   map[*symbolize.ProbedBody]*probedBody
	called  map[*function]string // names of callees in the profile
	roots   []*probedBody
}

// A bodyKey identifies a body: its function, the body into which it is inlined, and the probe of
// the call there.
type bodyKey struct {
	outer    *probedBody // nil if the body is not inlined
	site     uint32
	function *symbolize.Probed
}

// A probedBody holds the counts of a function, or of a function inlined at one probe. The binary
// may have several copies of its code.
type probedBody struct {
	bodyKey
	records []sampleprof.Record
	inlined []*probedBody
	total   uint64
	head    uint64
}

// body returns the body for the counts of a probe's body. It creates the enclosing bodies if
// necessary. A body inlined at an unknown probe, which has number 0, counts as a function that is
// not inlined.
func (b *probeBuilder) body(of *symbolize.ProbedBody) *probedBody {
	var missing []*symbolize.ProbedBody
	outer := b.known[of]
	for in := of; outer == nil; in = in.Caller {
		missing = append(missing, in)
		if in.Site == 0 {
			break
		}
		outer = b.known[in.Caller]
	}
	for _, in := range slices.Backward(missing) {
		outer = b.within(bodyKey{outer, in.Site, in.Function})
		b.known[in] = outer
	}
	return outer
}

// within returns the body of a key, and creates it if necessary.
func (b *probeBuilder) within(key bodyKey) *probedBody {
	body := b.bodies[key]
	if body != nil {
		return body
	}
	body = &probedBody{bodyKey: key}
	b.bodies[key] = body
	if key.outer == nil {
		b.roots = append(b.roots, body)
	} else {
		key.outer.inlined = append(key.outer.inlined, body)
	}
	return body
}

// counts gives each probe the count of its code. With ranges or exact counts, this is the count of
// the instruction at the probe. Otherwise single addresses were sampled, which rarely coincide with
// a probe, so it is the largest count of an instruction before the next probe.
func (b *probeBuilder) counts(probes []symbolize.Probe) {
	for _, f := range b.functions {
		if !f.written {
			continue
		}
		own := within(probes, f.symbol.Low, f.symbol.High)
		if len(own) == 0 {
			b.report.NoLines = saturating.Add(b.report.NoLines, f.weight)
			continue
		}
		b.report.Placed = saturating.Add(b.report.Placed, f.weight)
		stretches := f.stretches()
		for i, p := range own {
			end := p.Address + 1
			if !b.sameUnit {
				end = f.symbol.High
				if next := within(own[i:], p.Address+1, f.symbol.High); len(next) > 0 {
					end = next[0].Address
				}
			}
			b.count(p, most(stretches, p.Address, end))
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

// most returns the largest count at addresses from low up to, but not including, high.
func most(stretches []stretch, low, high uint64) (n uint64) {
	for _, s := range stretchesFrom(stretches, low) {
		if s.low >= high {
			break
		}
		n = max(n, s.count)
	}
	return n
}

// count adds the count of a probe. The counts of a probe's copies add up.
func (b *probeBuilder) count(p symbolize.Probe, n uint64) {
	if p.Index > math.MaxUint16 || p.Body.Site > math.MaxUint16 {
		b.report.Unplaced = saturating.Add(b.report.Unplaced, n)
		return
	}
	body := b.body(p.Body)
	body.records = append(body.records, sampleprof.Record{
		Kind: sampleprof.KindCount, Line: uint16(p.Index), Discriminator: p.Discriminator, Count: n,
	})
	body.total = saturating.Add(body.total, n)
	if isEntry := p.Index == 1; isEntry {
		body.head = saturating.Add(body.head, n)
	}
}

// calls adds the functions that were called at each call probe.
func (b *probeBuilder) calls(probes []symbolize.Probe) {
	for _, f := range b.functions {
		if !f.written {
			continue
		}
		for _, c := range f.calls {
			at := within(probes, c.from, c.from+1)
			i := slices.IndexFunc(at, func(p symbolize.Probe) bool { return p.Call })
			if i < 0 || at[i].Index > math.MaxUint16 || c.callee.name.cold {
				continue
			}
			body := b.body(at[i].Body)
			body.records = append(body.records, sampleprof.Record{
				Kind: sampleprof.KindTarget, Line: uint16(at[i].Index), Discriminator: at[i].Discriminator,
				Name: b.name(b.callee(c.callee, probes)), Count: c.count,
			})
		}
	}
}

// callee returns the name of a called function in the profile: the one of its names that its own
// probes use, if any.
func (b *probeBuilder) callee(f *function, probes []symbolize.Probe) string {
	name, known := b.called[f]
	if known {
		return name
	}
	name = f.name.name
	names := probedNames(f.symbol)
	for _, p := range within(probes, f.symbol.Low, f.symbol.High) {
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

// add adds a function with all bodies inlined into it to the profile.
func (b *probeBuilder) add(root *probedBody) {
	f := sampleprof.Function{Name: b.name(root.function.Name), HeadCount: root.head}
	f.Records, f.Total = b.flatten(root)
	b.profile.AddFunction(f)
}

// settle raises the count of each call probe to the sum of its targets' counts. The body's total
// stays the same.
func (b *probedBody) settle() {
	type place struct {
		line          uint16
		discriminator uint32
	}
	called := make(map[place]uint64)
	for _, r := range b.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindTarget {
			called[at] = saturating.Add(called[at], r.Count)
		}
	}
	for _, r := range b.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindCount {
			called[at] -= min(called[at], r.Count)
		}
	}
	for i, r := range b.records {
		if at := (place{r.Line, r.Discriminator}); r.Kind == sampleprof.KindCount && called[at] > 0 {
			b.records[i].Count = saturating.Add(r.Count, called[at])
			delete(called, at)
		}
	}
}

// flatten returns the records of a body, including those of inlined bodies, and the sum of their
// counts.
func (b *probeBuilder) flatten(root *probedBody) ([]sampleprof.Record, uint64) {
	type open struct {
		body *probedBody
		head int // index of the KindInlined record of body
	}
	var records []sampleprof.Record
	stack := []open{{root, -1}}
	enter := func(body *probedBody) {
		body.settle()
		records = append(records, sampleprof.Record{Kind: sampleprof.KindChecksum, Count: body.function.Checksum})
		records = append(records, body.records...)
	}
	enter(root)
	for {
		top := &stack[len(stack)-1]
		if n := len(top.body.inlined); n > 0 {
			inner := top.body.inlined[n-1]
			top.body.inlined = top.body.inlined[:n-1]
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
