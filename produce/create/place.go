package create

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// maxLine is the largest line offset that version 4 of the profile format can hold.
const maxLine = 1<<24 - 1

// maxDiscriminator returns the largest discriminator that fits the profile's formats.
func (o *Options) maxDiscriminator() uint32 {
	if o.WideDiscriminators {
		return math.MaxUint32
	}
	return math.MaxUint16
}

// A placed contains what debug info says about one symbol of the binary: the function's name in the
// profile, and the symbol's counts by source location.
type placed struct {
	symbol   symbol // name of the function; empty if debug info does not name it
	unit     *symbolize.Unit
	body     body
	stubs    []*stub
	evidence *profile.CodeCopy // nil unless Options.Evidence is set
}

// place reads the debug info of the functions whose weight exceeds the threshold. It maps their
// samples to source locations.
func (c *creation) place(ctx context.Context) error {
	wanted := make(map[uint64]*function)
	for _, f := range c.functions {
		if f.written {
			wanted[f.symbol.Low] = f
			for _, call := range f.calls {
				wanted[call.callee.symbol.Low] = call.callee // to know its file
			}
		}
	}
	symbols := make([]symbolize.Symbol, 0, len(wanted))
	for _, f := range wanted {
		symbols = append(symbols, f.symbol)
	}
	var err error
	if c.report.FlowSensitive, err = c.file.Defines("__llvm_fs_discriminator__"); err != nil {
		return err
	}
	c.code = newDecoder(c.file.ELF())
	c.collectRests(wanted)
	missing := make(map[string]bool)
	done := 0
	for code, err := range c.file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		if code.Unit != nil && code.Unit.Missing != "" {
			missing[code.Unit.Missing] = true
		}
		p := &mapper{creation: c, function: wanted[code.Symbol.Low], sites: make(map[*symbolize.Instance]site)}
		if code.Unit != nil {
			p.encoding = c.options.encodingOf(code.Unit.Producer, c.report.FlowSensitive)
			p.clang = strings.Contains(code.Unit.Producer, "clang")
		}
		p.place(code)
		if done++; c.options.Progress != nil {
			c.options.Progress(done, len(symbols))
		}
	}
	c.report.NoDiscriminators = c.clangSpans >= someSpans && !c.discriminated
	c.report.Missing = slices.Sorted(maps.Keys(missing))
	slices.Sort(c.report.Stubs)
	c.report.Stubs = slices.Compact(c.report.Stubs)
	return nil
}

// A mapper maps the counts of one symbol's code to source locations by debug info.
type mapper struct {
	*creation
	function *function
	encoding discriminators
	clang    bool // the code is from clang or another compiler based on LLVM
	placed   *placed
	sites    map[*symbolize.Instance]site
	rest     map[*symbolize.Instance]*function // for each instance that is a stub, the symbol with the rest of its function
}

// A site is the body of the profile to which the counts of an instance are added. An instance is a
// function, or a copy of a function that was inlined. The counts are multiplied by a factor.
type site struct {
	body   *body  // nil if the profile cannot hold the instance
	factor uint64 // executions of the source for each execution of this instance
	copy   uint64 // distinguishes copies of the blocks that contain the inlined calls, see copyID
	stub   *stub  // nil unless the instance is a stub
}

// place maps the counts and calls of the mapper's symbol to source locations. code is the debug
// info of the symbol.
func (p *mapper) place(code *symbolize.Code) {
	f := p.function
	p.placed = &placed{unit: code.Unit}
	f.placed = p.placed
	f.symbol.Names = code.Symbol.Names
	f.name = p.options.Suffixes.canonical(f.symbol.Names[0])
	for _, s := range code.Spans {
		if s.Instance != nil {
			root := s.Instance
			for root.Caller != nil {
				root = root.Caller
			}
			p.placed.symbol = symbol{p.path(root.Function.File), f.name.name}
			p.declare(p.placed.symbol, root.Function)
			break
		}
	}
	if !f.written {
		return
	}
	if p.clang {
		p.clangSpans += len(code.Spans)
		p.discriminated = p.discriminated || slices.ContainsFunc(code.Spans, func(s symbolize.Span) bool { return s.Line.Discriminator != 0 })
	}
	p.findStubs(code.Spans)
	p.counts(code.Spans)
	p.calls(code.Spans)
	p.callStubs()
	if p.options.Evidence && code.Unit != nil && !p.clang {
		p.placed.evidence = p.codeCopy(code)
	}
	p.placed.body.settle(p.options.Combine)
}

// someSpans is the minimum number of spans of clang's code from which to conclude that the program
// was compiled without discriminators. A span is a run of instructions with one line. A small
// function may need no discriminators.
const someSpans = 100

// declare passes the declaration of a function in the profile to Options.Declared, once for each
// different declaration.
func (p *mapper) declare(s symbol, f *symbolize.Function) {
	c, d := p.creation, Declaration{Unit: s.file, Symbol: s.name, File: f.File, Line: f.Line}
	if c.options.Declared == nil || c.declared[d] {
		return
	}
	c.declared[d] = true
	if p.placed.unit != nil {
		d.Source = unitPath(p.placed.unit)
	}
	c.options.Declared(d)
}

// path returns the path that a source file has in the profile, see Options.Path.
func (c *creation) path(path string) string {
	if c.options.Path != nil && path != "" {
		return c.options.Path(path)
	}
	return path
}

// counts adds the counts of the symbol's code to source locations. spans divide the code into runs
// of instructions with one line.
func (p *mapper) counts(spans []symbolize.Span) {
	for _, s := range p.function.stretches() {
		for len(spans) > 0 && spans[0].High <= s.low {
			spans = spans[1:]
		}
		at := s.low
		for _, span := range spans {
			if span.Low >= s.high {
				break
			}
			low, high := max(span.Low, s.low), min(span.High, s.high)
			p.report.NoLines = saturating.Add(p.report.NoLines, saturating.Mul(low-at, s.count))
			p.count(span, s.count, high-low)
			at = high
		}
		p.report.NoLines = saturating.Add(p.report.NoLines, saturating.Mul(s.high-at, s.count))
	}
}

// count adds a count to the source location of a span, which is a run of instructions with one
// line. size is the number of the span's bytes that ran count times.
func (p *mapper) count(span symbolize.Span, count, size uint64) {
	weight := saturating.Mul(count, size)
	if span.Instance == nil || span.Line == (symbolize.Line{}) || p.isNowhere(span.Line) {
		p.report.NoLines = saturating.Add(p.report.NoLines, weight)
		return
	}
	s, w, d := p.leaf(span)
	if s.body == nil {
		p.report.Unplaced = saturating.Add(p.report.Unplaced, weight)
		if d.base > p.options.maxDiscriminator() {
			p.report.Discriminators = saturating.Add(p.report.Discriminators, weight)
		}
		if p.isUndeclared(span.Instance) {
			p.report.Undeclared = saturating.Add(p.report.Undeclared, weight)
			p.report.LineTables = p.report.LineTables || p.clang
		}
		return
	}
	p.report.Placed = saturating.Add(p.report.Placed, weight)
	n := saturating.Mul(count, saturating.Mul(s.factor, d.factor))
	if p.options.Combine == CombineSum {
		n = saturating.Mul(n, size)
	}
	s.body.count(w, copyID(s.copy, d.copy), n, p.options.Combine)
}

// isNowhere reports whether debug info gives line 0 to code, so that the code belongs to no line.
// Code of clang never does: clang gives line 0 to code that it merged from several lines, and looks
// for counts of line 0 when it reads a profile.
func (p *mapper) isNowhere(l symbolize.Line) bool { return l.Line == 0 && !p.clang }

// isUndeclared reports whether debug info has no declaration line for an instance, which is a
// function or an inlined copy, or for a function into which it is inlined. A profile counts the
// lines of a function from its declaration line.
func (p *mapper) isUndeclared(i *symbolize.Instance) bool {
	for ; i != nil; i = i.Caller {
		if i.Function.Line == 0 && !p.beginsAt0(i.Function) {
			return true
		}
	}
	return false
}

// beginsAt0 reports whether the lines of a function are counted from line 0. Clang does so for
// functions that it makes from parts of a coroutine.
func (p *mapper) beginsAt0(f *symbolize.Function) bool { return p.clang && f.Artificial && f.Line == 0 }

// copyID returns a number that identifies one of several duplicates of code that GCC has made, for
// example by unrolling a loop. GCC numbers the duplicates in the discriminators of lines. inner is
// that number for the code itself. outer is the result of copyID for the call into which the code
// was inlined. The result is 0 if nothing was duplicated.
func copyID(outer uint64, inner uint32) uint64 {
	return outer<<gccCopyBits ^ outer>>(64-gccCopyBits) ^ uint64(inner)
}

// calls adds the recorded branches from the symbol to the starts of functions as calls. It also
// raises the count of a location that contains a call to the number of these calls.
func (p *mapper) calls(spans []symbolize.Span) {
	sum := uint64(0)
	for n, c := range p.function.calls {
		if n == 0 || p.function.calls[n-1].from != c.from {
			sum = 0
		}
		sum = saturating.Add(sum, c.count)
		i, _ := slices.BinarySearchFunc(spans, c.from, func(s symbolize.Span, at uint64) int { return cmp.Compare(s.High, at+1) })
		if i == len(spans) || spans[i].Low > c.from || spans[i].Instance == nil || p.isNowhere(spans[i].Line) {
			continue
		}
		s, w, d := p.leaf(spans[i])
		if s.body == nil {
			continue
		}
		if s.stub != nil && s.stub.rest == c.callee {
			s.stub.calls = saturating.Add(s.stub.calls, c.count)
		} else {
			s.body.call(w, c.callee, c.count)
		}
		if p.sameUnit && p.options.Combine == CombineMax {
			s.body.count(w, copyID(s.copy, d.copy), saturating.Mul(sum, saturating.Mul(s.factor, d.factor)), CombineMax)
		}
	}
}

// leaf returns the source location of a span of code, the site for its counts, and its
// discriminator. A site says which body of the profile gets the counts. It has no body if the
// profile cannot hold the counts.
func (p *mapper) leaf(span symbolize.Span) (site, location, discriminator) {
	w, d, ok := p.location(span.Instance, span.Line)
	if !ok {
		return site{}, w, d
	}
	return p.site(span.Instance), w, d
}

// location returns the source location of a line in an instance, which is a function or an inlined
// copy, and the line's decoded discriminator. Lines before the function's declaration, as from
// macros and included bodies, count backwards from 2^16 (format note 25). ok is false if the
// profile cannot hold the location.
func (p *mapper) location(in *symbolize.Instance, line symbolize.Line) (w location, d discriminator, ok bool) {
	d = p.encoding.decode(line.Discriminator)
	start := in.Function.Line
	if start == 0 && !p.beginsAt0(in.Function) || p.isNowhere(line) || d.base > p.options.maxDiscriminator() {
		return w, d, false
	}
	offset := line.Line - start
	if line.Line < start {
		offset &= 1<<16 - 1
	}
	return location{offset, d.base}, d, offset <= maxLine
}

// site returns the site of an instance: the body of the profile to which the counts of this
// function or inlined copy are added. If the profile lacks an inlined body for the instance, site
// adds it, and before it those for the callers.
func (p *mapper) site(i *symbolize.Instance) site {
	return throughCallers(p.sites, i, site{body: &p.placed.body, factor: 1}, p.inner)
}

// throughCallers computes a value for the inlined copy i of a function, such as its frame, from the
// values for the functions around it. The outermost function, which is not inlined, has the value
// root. The function inner computes the value for an inlined copy from the value for its caller.
// Values in known are not computed again, and throughCallers adds the new ones to known.
func throughCallers[V any](known map[*symbolize.Instance]V, i *symbolize.Instance, root V, inner func(outer V, i *symbolize.Instance) V) V {
	var missing []*symbolize.Instance
	v := root
	for ; i.Caller != nil; i = i.Caller {
		if found, ok := known[i]; ok {
			v = found
			break
		}
		missing = append(missing, i)
	}
	for _, i := range slices.Backward(missing) {
		v = inner(v, i)
		known[i] = v
	}
	return v
}

// inner returns the site of an instance, for the counts of an inlined copy of a function. outer is
// the site of the function into which the copy is inlined. inner adds an inlined body to the
// profile.
func (p *mapper) inner(outer site, i *symbolize.Instance) site {
	if outer.body == nil {
		return outer
	}
	w, d, ok := p.location(i.Caller, i.Call)
	name := p.inlinedName(i)
	if !ok || name == "" || strings.ContainsRune(name, 0) {
		return site{}
	}
	if p.options.Suffixes != NoSuffixes && p.isPart(i, name) {
		return outer
	}
	if rest := p.rest[i]; rest != nil {
		return p.newStub(outer, w, d, rest)
	}
	inlined := symbol{p.path(i.Function.File), name}
	p.declare(inlined, i.Function)
	return site{
		body:   outer.body.inline(w, inlined),
		factor: saturating.Mul(outer.factor, d.factor),
		copy:   copyID(outer.copy, d.copy),
	}
}

// isPart reports whether an inlined function is the rest of the function around it. GCC splits a
// function if only its beginning is worth inlining. The rest becomes a function with the suffix
// .part.0. GCC often inlines the rest again into the original function, at the line of the
// declaration. No source contains that call, so a compiler does not look for counts there. If a
// function calls itself on the line of its declaration, the call is in a later column, and isPart
// returns false.
func (c *creation) isPart(i *symbolize.Instance, name string) bool {
	outer, inner := i.Caller.Function, i.Function
	return i.AtDeclaration && outer.Name == inner.Name && outer.File == inner.File && outer.Line == inner.Line &&
		c.unify(outer.Linkage()) == name
}

// A locator finds the function that contains an address. After an error it finds nothing and keeps
// the error in err, so that callers check err once, after the last lookup.
type locator struct {
	file  *symbolize.File
	found symbolize.Symbol // the latest result; addresses mostly come sorted
	err   error
}

// symbol returns the function that contains an address. It returns false if no function does, or
// after an error.
func (l *locator) symbol(addr uint64) (s symbolize.Symbol, ok bool) {
	if addr >= l.found.Low && addr < l.found.High {
		return l.found, true
	}
	if l.err == nil {
		if s, ok, l.err = l.file.Symbol(addr); ok {
			l.found = s
		}
	}
	return s, ok
}

// at returns the function that contains the code at a file offset, and the address of this code. ok
// is false if no function contains it.
func (l *locator) at(offset uint64) (s symbolize.Symbol, addr uint64, ok bool) {
	if addr, ok = l.file.Address(offset); ok {
		s, ok = l.symbol(addr)
	}
	return s, addr, ok
}
