package create

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ErrNoCalls is returned if the recording has neither call stacks nor branch stacks, so that
// callers are unknown.
var ErrNoCalls = errors.New("the samples have no calls: neither call stacks nor branch stacks")

// WritePprof writes samples as a CPU profile of pprof, compressed with gzip, for go build -pgo.
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
// Errors are [ErrBuild], [ErrNoCode], [ErrNoCalls], one for counts that add up to more than 2^63-1,
// and those of package symbolize and w.
func WritePprof(ctx context.Context, w io.Writer, f *symbolize.File, set *samples.Set) error {
	p := &pprofWriter{
		creation: &creation{file: f, report: &Report{}},
		entries:  make(map[*function]pprofile.Function), weights: make(map[*function]uint64), called: make(map[*function]uint64),
	}
	if err := p.attribute(set); err != nil {
		return err
	}
	if err := p.resolve(ctx); err != nil {
		return err
	}
	if len(p.calls) == 0 {
		return ErrNoCalls
	}
	return pprofile.WriteStacks(w, pprofile.Options{}, []pprofile.ValueType{{Name: "samples", Unit: "count"}}, p.stacks)
}

// A pprofWriter collects call stacks for a CPU profile of pprof, which Go's compiler reads.
type pprofWriter struct {
	*creation
	leaves  []pprofile.Stack // sampled source lines, each with its number of samples
	calls   []pprofCall
	entries map[*function]pprofile.Function // the outermost function with a line
	weights map[*function]uint64            // samples
	called  map[*function]uint64            // branches to it from other functions
}

// A pprofCall is a call instruction and the function that it calls. from has the source line of the
// instruction, and the lines of the calls into which that line was inlined, innermost first.
type pprofCall struct {
	from []pprofile.Place
	call
}

// resolve finds the source lines of all sampled addresses and of all calls by debug info, and sorts
// them.
func (p *pprofWriter) resolve(ctx context.Context) error {
	var symbols []symbolize.Symbol
	byLow := make(map[uint64]*function)
	for _, f := range p.functions {
		symbols = append(symbols, f.symbol)
		byLow[f.symbol.Low] = f
	}
	for code, err := range p.file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		p.resolveCode(byLow[code.Symbol.Low], code)
	}
	p.leaves = merged(p.leaves, func(a, b pprofile.Stack) int { return comparePprof(a.Places, b.Places) },
		func(to *pprofile.Stack, s pprofile.Stack) { to.Values[0] = saturating.Add(to.Values[0], s.Values[0]) })
	p.calls = slices.DeleteFunc(p.calls, func(c pprofCall) bool { return p.entries[c.callee].Name == "" })
	slices.SortFunc(p.calls, func(a, b pprofCall) int {
		return cmp.Or(comparePprof(a.from, b.from), cmp.Compare(a.callee.symbol.Low, b.callee.symbol.Low))
	})
	return nil
}

// comparePprof orders two call stacks by their frames, innermost first.
func comparePprof(a, b []pprofile.Place) int {
	return slices.CompareFunc(a, b, func(a, b pprofile.Place) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line), strings.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start))
	})
}

// resolveCode finds the stacks of the counts and calls in a function. It leaves out branches of the
// function to its own start. They are loops or recursion, which a compiler cannot inline.
func (p *pprofWriter) resolveCode(f *function, code *symbolize.Code) {
	stretches := f.stretches()
	for _, span := range code.Spans {
		frames := framesOf(code.Symbol, span)
		if len(frames) == 0 {
			continue
		}
		if _, ok := p.entries[f]; !ok {
			p.entries[f] = frames[len(frames)-1].Function
		}
		count := weightOf(stretches, span.Low, span.High)
		if p.report.Ranges {
			count /= instructionBytes
		}
		if count > 0 {
			p.leaves = append(p.leaves, pprofile.Stack{Places: frames, Values: []uint64{count}})
			p.weights[f] = saturating.Add(p.weights[f], count)
		}
		first, _ := slices.BinarySearchFunc(f.calls, span.Low, func(c call, low uint64) int { return cmp.Compare(c.from, low) })
		for _, c := range f.calls[first:] {
			if c.from >= span.High {
				break
			}
			if c.callee != f || p.report.Stacks {
				p.calls = append(p.calls, pprofCall{frames, c})
				p.called[c.callee] = saturating.Add(p.called[c.callee], c.count)
			}
		}
	}
}

// weightOf adds up the counts of the bytes from low up to, but not including, high.
func weightOf(stretches []stretch, low, high uint64) (sum uint64) {
	for _, s := range stretchesIn(stretches, low, high) {
		sum = saturating.Add(sum, saturating.Mul(s.count, min(s.high, high)-max(s.low, low)))
	}
	return sum
}

// framesOf returns the frames of a call stack that ends in a span of code, innermost first: the
// function to which the span's line belongs, and the functions into which it was inlined. It leaves
// out wrappers that have no line.
func framesOf(s symbolize.Symbol, span symbolize.Span) (frames []pprofile.Place) {
	line := span.Line
	for i := span.Instance; i != nil; i = i.Caller {
		if i.Function.Line > 0 && line.Line > 0 {
			name := i.Function.Linkage()
			if i.Caller == nil && !slices.Contains(s.Names, name) {
				name = s.Names[0]
			}
			name = strings.TrimSuffix(name, ".abi0") // of Go's assembly
			frames = append(frames, pprofile.Place{Function: pprofile.Function{Name: name, File: i.Function.File, Start: i.Function.Line}, Line: line.Line})
		}
		line = i.Call
	}
	return frames
}

// stacks yields a stack for each sampled source line and for each call.
func (p *pprofWriter) stacks(yield func(pprofile.Stack, error) bool) {
	for _, s := range p.leaves {
		if !yield(s, nil) {
			return
		}
	}
	for _, c := range p.calls {
		callee, count := p.entries[c.callee], c.count
		if !p.report.Stacks { // of the samples of the callee, as many as it is called from here
			count = max(1, uint64(float64(p.weights[c.callee])*float64(c.count)/float64(p.called[c.callee])))
		}
		places := append([]pprofile.Place{{Function: callee, Line: callee.Start}}, c.from...)
		if !yield(pprofile.Stack{Places: places, Values: []uint64{count}}, nil) {
			return
		}
	}
}
