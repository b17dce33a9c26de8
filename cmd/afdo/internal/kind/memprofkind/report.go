package memprofkind

import (
	"maps"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// Drawing returns a profile whose samples are bytes that were allocated.
func (k *Kind) Drawing(e *cli.Env, f *input.File) (*kind.Drawing, error) {
	l, err := load(f)
	if err != nil {
		return nil, err
	}
	p, names, err := k.named(e, l)
	if err != nil {
		return nil, err
	}
	q, err := asBodies(p, names)
	if err != nil {
		return nil, err
	}
	return &kind.Drawing{
		Profile: q,
		Format:  l.format,
		Note:    "Samples are bytes that were allocated. What is inlined in a function here is what it calls, inlined or not, and how often a function was entered is how often it began a call stack that allocates.",
		Size:    l.size,
	}, nil
}

// asBodies makes each call stack bodies that are nested, from the outermost function in.
func asBodies(p *memprof.Profile, names map[uint64]string) (*profile.Profile, error) {
	q := profile.New()
	roots := make(map[profile.SymbolRef]*outermost)
	symbol := func(f memprof.Frame) profile.SymbolRef {
		return q.AddSymbol(profile.UnknownUnit, nameOf(names, f.Function))
	}
	var stack []memprof.Frame
	for a := range p.Allocs() {
		stack = stack[:0]
		for f, err := range p.Frames(a.Stack) {
			if err != nil {
				return nil, err
			}
			stack = append(stack, f)
		}
		if len(stack) == 0 {
			continue
		}
		slices.Reverse(stack)
		root := symbol(stack[0])
		if roots[root] == nil {
			roots[root] = new(outermost)
		}
		roots[root].add(stack, &a.Block, symbol)
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		r := roots[root]
		q.AddFunction(root, profile.Function{HeadCount: r.calls, Records: r.body.Records()})
	}
	return q, nil
}

// An outermost function is where call stacks begin.
type outermost struct {
	body  profile.Body
	calls uint64
	added int // frames since what is the same was merged
	kept  int // records then
}

// add adds a call stack, the outermost frame first.
func (o *outermost) add(stack []memprof.Frame, b *memprof.Block, symbol func(memprof.Frame) profile.SymbolRef) {
	o.calls = saturating.Add(o.calls, b[memprof.AllocCount])
	for i, f := range stack[1:] {
		o.body.Enter(stack[i].LineOffset, stack[i].Column, symbol(f))
	}
	last := stack[len(stack)-1]
	o.body.Count(last.LineOffset, last.Column, b[memprof.TotalSize])
	for range stack[1:] {
		o.body.Leave()
	}
	if o.added += len(stack); o.added > 1<<16+o.kept { // stacks have most frames in common
		o.added, o.kept = 0, len(o.body.Records())
	}
}
