package create

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/protobuf"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ErrNoCalls: the recording has neither call stacks nor branch stacks, so callers are unknown.
var ErrNoCalls = errors.New("the samples have no calls: neither call stacks nor branch stacks")

// WritePprof writes samples as a CPU profile of pprof, compressed with gzip, for go build -pgo. It
// returns the number of calls written.
//
// Go's compiler reads the weight of each call from it: the samples in the callee, by caller and by
// line of the call, relative to the first line of the caller. So every function in the file has its
// first line, and functions inlined at an address have frames of their own.
//
// A Set does not contain the call stack of each sample. So WritePprof writes a stack for each
// sampled address, and one for each pair of caller and callee. If calls come from branch stacks,
// the weight of a call is the number of calls times the samples of one execution of the callee.
// Wrappers that the compiler made, which have no line, are left out, as in Go's own profiles.
//
// Errors are [ErrBuild], [ErrNoCode], [ErrNoCalls], and those of package symbolize and w.
func WritePprof(ctx context.Context, w io.Writer, f *symbolize.File, set *samples.Set) (calls int, err error) {
	if err := CheckBuild(f, set); err != nil {
		return 0, err
	}
	if err := EndRanges(f, set); err != nil {
		return 0, err
	}
	p := &pprofWriter{locator: locator{file: f}, strings: map[string]uint64{"": 0}, texts: []string{""}, called: make(map[uint64]uint64),
		wanted: make(map[uint64]*wantedSymbol), entries: make(map[uint64]pprofFunction), weights: make(map[uint64]uint64)}
	if p.choose(set); p.err != nil {
		return 0, p.err
	}
	if err := p.resolve(ctx); err != nil {
		return 0, err
	}
	if len(p.leaves)+len(p.calls) == 0 {
		return 0, ErrNoCode
	}
	p.writeSamples()
	if p.written == 0 {
		return 0, ErrNoCalls
	}
	return p.written, p.finish(w)
}

// A pprofWriter writes a CPU profile of pprof for Go's compiler.
type pprofWriter struct {
	locator
	wanted  map[uint64]*wantedSymbol // by start address
	leaves  []pprofStack
	calls   []pprofCall
	entries map[uint64]pprofFunction // by start address of the symbol: the outermost function with a line
	weights map[uint64]uint64        // by start address of the symbol: its samples
	called  map[uint64]uint64        // by start address of the symbol: the branches to it
	written int

	strings   map[string]uint64
	texts     []string
	functions table[pprofFunction]
	locations table[pprofLocation]
	out       protobuf.Message
}

// A wantedSymbol is a function whose addresses are resolved to lines, with its counts and calls.
type wantedSymbol struct {
	symbol symbolize.Symbol
	counts map[uint64]uint64 // by address: samples there, or executions of ranges that begin there
	ends   map[uint64]uint64 // by address: executions of ranges that end just before it
	sites  map[uint64][]pprofCall
}

// A table numbers keys from 1, in the order in which they are first asked for.
type table[K comparable] struct {
	keys    []K
	numbers map[K]uint64
}

func (t *table[K]) number(key K) uint64 {
	n, ok := t.numbers[key]
	if !ok {
		if t.numbers == nil {
			t.numbers = make(map[K]uint64)
		}
		t.keys = append(t.keys, key)
		n = uint64(len(t.keys))
		t.numbers[key] = n
	}
	return n
}

// A pprofStack is a sampled location and its callers, innermost first, with its count.
type pprofStack struct {
	frames []pprofLocation
	count  uint64
}

// A pprofCall is a call from a location, with its callers, to a function.
type pprofCall struct {
	from   []pprofLocation
	callee uint64 // start address of the symbol
	count  uint64
	branch bool // count is a number of branches, not of samples
}

type pprofFunction struct {
	name, file string
	line       uint32
}

type pprofLocation struct {
	function pprofFunction
	line     uint32
}

// want returns the function that contains a file offset, and the address of the offset. It adds the
// function to p.wanted. It returns nil if no function contains the offset.
func (p *pprofWriter) want(offset uint64) (*wantedSymbol, uint64) {
	s, addr, ok := p.at(offset)
	if !ok {
		return nil, 0
	}
	w := p.wanted[s.Low]
	if w == nil {
		w = &wantedSymbol{symbol: s, counts: make(map[uint64]uint64), ends: make(map[uint64]uint64), sites: make(map[uint64][]pprofCall)}
		p.wanted[s.Low] = w
	}
	return w, addr
}

// choose collects the counts and calls of all functions, whose addresses are then resolved.
func (p *pprofWriter) choose(set *samples.Set) {
	ranges := set.Ranges.Len() > 0
	for r, n := range set.Ranges.All() {
		w, addr := p.want(r.Begin)
		if w != nil && r.End >= r.Begin && addr+r.End-r.Begin < w.symbol.High {
			w.counts[addr] = saturating.Add(w.counts[addr], n)
			end := addr + r.End - r.Begin + 1
			w.ends[end] = saturating.Add(w.ends[end], n)
		}
	}
	for offset, n := range set.Addresses.All() {
		if w, addr := p.want(offset); w != nil && !ranges {
			w.counts[addr] = saturating.Add(w.counts[addr], n)
		}
	}
	for b, n := range set.Branches.All() {
		if to, at := p.want(b.To); to != nil && at == to.symbol.Low { // no jump or return
			p.call(b.From, to, n, true)
		}
	}
	for c, n := range set.Calls.All() {
		if in, _ := p.want(c.In); in != nil && c.From != samples.Elsewhere {
			p.call(c.From, in, n, false)
		}
	}
}

// call adds n calls from a file offset to a function.
func (p *pprofWriter) call(from uint64, to *wantedSymbol, n uint64, branch bool) {
	w, at := p.want(from)
	if w == nil || w == to && branch {
		return
	}
	if branch {
		p.called[to.symbol.Low] = saturating.Add(p.called[to.symbol.Low], n)
	}
	w.sites[at] = append(w.sites[at], pprofCall{callee: to.symbol.Low, count: n, branch: branch})
}

// resolve finds the source lines of all counts and calls, and sorts the stacks.
func (p *pprofWriter) resolve(ctx context.Context) error {
	var symbols []symbolize.Symbol
	for _, low := range slices.Sorted(maps.Keys(p.wanted)) {
		symbols = append(symbols, p.wanted[low].symbol)
	}
	for code, err := range p.file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		p.resolveCode(p.wanted[code.Symbol.Low], code)
	}
	slices.SortFunc(p.leaves, func(a, b pprofStack) int { return comparePprof(a.frames, b.frames) })
	p.leaves = mergeStacks(p.leaves)
	slices.SortFunc(p.calls, func(a, b pprofCall) int {
		return cmp.Or(comparePprof(a.from, b.from), cmp.Compare(a.callee, b.callee))
	})
	return nil
}

// mergeStacks adds up adjacent stacks with the same frames.
func mergeStacks(stacks []pprofStack) []pprofStack {
	merged := stacks[:0]
	for _, s := range stacks {
		if last := len(merged) - 1; last >= 0 && slices.Equal(merged[last].frames, s.frames) {
			merged[last].count = saturating.Add(merged[last].count, s.count)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

func comparePprof(a, b []pprofLocation) int {
	return slices.CompareFunc(a, b, func(a, b pprofLocation) int {
		return cmp.Or(strings.Compare(a.function.name, b.function.name), cmp.Compare(a.line, b.line), strings.Compare(a.function.file, b.function.file))
	})
}

// resolveCode finds the stacks of the counts and calls in a function.
func (p *pprofWriter) resolveCode(w *wantedSymbol, code *symbolize.Code) {
	running, last := uint64(0), w.symbol.Low
	points := slices.Sorted(maps.Keys(w.counts))
	points = append(points, slices.Collect(maps.Keys(w.ends))...)
	slices.Sort(points)
	points = slices.Compact(points)
	ranges := len(w.ends) > 0
	sites := slices.Sorted(maps.Keys(w.sites))
	next := 0
	for _, span := range code.Spans {
		frames := framesOf(code.Symbol, span)
		if len(frames) == 0 {
			continue
		}
		if _, ok := p.entries[w.symbol.Low]; !ok {
			p.entries[w.symbol.Low] = frames[len(frames)-1].function
		}
		count := uint64(0)
		for last = max(last, span.Low); next < len(points) && points[next] < span.High; next++ {
			at := points[next]
			if !ranges {
				if at >= span.Low {
					count = saturating.Add(count, w.counts[at])
				}
				continue
			}
			if at > last {
				count = saturating.Add(count, saturating.Mul(running, at-last))
				last = at
			}
			running = saturating.Add(running, w.counts[at]) - min(running, w.ends[at])
		}
		if ranges {
			count = saturating.Add(count, saturating.Mul(running, span.High-last)) / instructionBytes
			last = span.High
		}
		if count > 0 {
			p.leaves = append(p.leaves, pprofStack{frames, count})
			p.weights[w.symbol.Low] = saturating.Add(p.weights[w.symbol.Low], count)
		}
		for first, _ := slices.BinarySearch(sites, span.Low); first < len(sites) && sites[first] < span.High; first++ {
			for _, c := range w.sites[sites[first]] {
				p.calls = append(p.calls, pprofCall{frames, c.callee, c.count, c.branch})
			}
		}
	}
}

// framesOf returns the functions that contain a span, innermost first. It leaves out wrappers that
// have no line.
func framesOf(s symbolize.Symbol, span symbolize.Span) (frames []pprofLocation) {
	line := span.Line
	for i := span.Instance; i != nil; i = i.Caller {
		if i.Function.Line > 0 && line.Line > 0 {
			name := i.Function.Linkage()
			if i.Caller == nil && !slices.Contains(s.Names, name) {
				name = s.Names[0]
			}
			name = strings.TrimSuffix(name, ".abi0") // of Go's assembly
			frames = append(frames, pprofLocation{pprofFunction{name, i.Function.File, i.Function.Line}, line.Line})
		}
		line = i.Call
	}
	return frames
}

// writeSamples writes a sample for each resolved stack and call.
func (p *pprofWriter) writeSamples() {
	for _, s := range p.leaves {
		p.writeSample(s.frames, s.count)
	}
	for _, c := range p.calls {
		callee, ok := p.entries[c.callee]
		if !ok {
			continue
		}
		count := c.count
		if c.branch { // of the samples of the callee, as many as it is called from here
			count = max(1, uint64(float64(p.weights[c.callee])*float64(c.count)/float64(p.called[c.callee])))
		}
		p.writeSample(append([]pprofLocation{{callee, callee.line}}, c.from...), count)
		p.written++
	}
}

// Field numbers of pprof's messages: github.com/google/pprof/proto/profile.proto.
const (
	pprofSampleType, pprofSample, pprofLocations, pprofFunctions, pprofStrings = 1, 2, 4, 5, 6
	pprofPeriodType, pprofPeriod                                               = 11, 12
)

func (p *pprofWriter) writeSample(frames []pprofLocation, count uint64) {
	var ids []byte
	for _, f := range frames {
		ids = binary.AppendUvarint(ids, p.locations.number(f))
	}
	var m protobuf.Message
	m.Bytes(1, ids)
	m.Bytes(2, binary.AppendUvarint(nil, min(count, 1<<62)))
	p.out.Bytes(pprofSample, m)
}

func (p *pprofWriter) text(s string) uint64 {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n, ok := p.strings[s]
	if !ok {
		n = uint64(len(p.texts))
		p.strings[s], p.texts = n, append(p.texts, s)
	}
	return n
}

// finish writes the tables to which samples refer, and compresses the file.
func (p *pprofWriter) finish(w io.Writer) error {
	for _, field := range []uint64{pprofSampleType, pprofPeriodType} {
		var m protobuf.Message
		m.Uint(1, p.text("samples"))
		m.Uint(2, p.text("count"))
		p.out.Bytes(field, m)
	}
	p.out.Uint(pprofPeriod, 1)
	for i, l := range p.locations.keys {
		var line, m protobuf.Message
		line.Uint(1, p.functions.number(l.function))
		line.Uint(2, uint64(l.line))
		m.Uint(1, uint64(i)+1)
		m.Bytes(4, line)
		p.out.Bytes(pprofLocations, m)
	}
	for i, f := range p.functions.keys {
		var m protobuf.Message
		m.Uint(1, uint64(i)+1)
		m.Uint(2, p.text(f.name))
		m.Uint(3, p.text(f.name))
		m.Uint(4, p.text(f.file))
		m.Uint(5, uint64(f.line))
		p.out.Bytes(pprofFunctions, m)
	}
	for _, s := range p.texts {
		p.out.String(pprofStrings, s)
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.out); err != nil {
		return err
	}
	return z.Close()
}
