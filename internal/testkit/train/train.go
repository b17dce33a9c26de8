// Package train creates profiles of small programs for tests. Names, lines, discriminators,
// inlining and files come from a binary's debug information; the counts are synthetic. So a test
// has a profile like that of a profiler, on any machine and always the same.
package train

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/profile"
)

// Options describe the simulated run of a program, from which [Add] makes a profile.
type Options struct {
	// Seed changes the counts.
	Seed uint64

	// Indirect lists the functions that indirect calls reach. Each line calls them: a compiler
	// ignores the targets of a line without an indirect call.
	Indirect []string

	// Cold lists functions without samples, by the beginning of their symbol.
	Cold []string
}

// Add adds a profile of the binary at a path to p.
func Add(p *profile.Profile, path string, o Options) error {
	f, err := symbolize.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		if err != nil {
			return err
		}
		symbols = append(symbols, s)
	}
	var functions []*symbolize.Code
	for code, err := range f.Code(context.Background(), symbols) {
		if err != nil {
			return err
		}
		code.Spans = slices.DeleteFunc(code.Spans, func(s symbolize.Span) bool { return s.Instance == nil })
		if len(code.Spans) > 0 && !o.isCold(code.Symbol.Names[0]) {
			functions = append(functions, code)
		}
	}
	slices.SortFunc(functions, func(a, b *symbolize.Code) int { return cmp.Compare(a.Symbol.Low, b.Symbol.Low) })
	t := trainer{options: o, profile: p}
	for _, code := range functions {
		t.symbol(code) // before the calls of it
	}
	for _, code := range functions {
		t.function(code)
	}
	return nil
}

func (o *Options) isCold(name string) bool {
	return slices.ContainsFunc(o.Cold, func(cold string) bool { return strings.HasPrefix(name, cold) })
}

type trainer struct {
	options Options
	profile *profile.Profile
}

// symbol returns the symbol of the profile for the machine code of a function. It adds the symbol
// if the profile does not have it.
func (t *trainer) symbol(code *symbolize.Code) profile.SymbolRef {
	return t.profile.AddSymbol(t.unit(code.Spans[0].Instance.Chain()[0].Function), code.Symbol.Names[0])
}

// function adds samples to the profile for the machine code of a function, inlined calls included.
func (t *trainer) function(code *symbolize.Code) {
	name := code.Symbol.Names[0]
	heat := t.heat(name)
	var body profile.Body
	for _, span := range code.Spans {
		t.span(&body, span, heat)
	}
	t.profile.AddFunction(t.symbol(code), profile.Function{
		HeadCount: 1 + t.random(name)%1000,
		Timestamp: 1 + t.random("first "+name)%1_000_000,
		Records:   body.Records(),
	})
}

// unit returns the unit of the file that declares a function.
func (t *trainer) unit(f *symbolize.Function) profile.UnitRef {
	return t.profile.AddUnit(filepath.Clean(f.File))
}

// span adds a count to the profile for a range of instructions that come from one source line. It
// adds the count to the body of the function that contains the line. That is a body inlined in b if
// the instructions come from an inlined call. heat is the limit of the count.
func (t *trainer) span(b *profile.Body, span symbolize.Span, heat uint64) {
	chain := span.Instance.Chain()
	for _, in := range chain[1:] {
		callee := t.profile.AddSymbol(t.unit(in.Function), in.Function.Linkage())
		b.Enter(offset(in.Call.Line, in.Caller.Function), in.Call.Discriminator, callee)
	}
	if f := span.Instance.Function; span.Line.File == f.File {
		where := fmt.Sprint(f.Linkage(), span.Line.Line, span.Line.Discriminator)
		count := t.random(where) % heat
		if t.random("zero "+where)%5 == 0 {
			count = 0
		}
		line, disc := offset(span.Line.Line, f), span.Line.Discriminator
		b.Count(line, disc, count)
		for _, name := range t.options.Indirect {
			b.Call(line, disc, t.find(name), 1+t.random(fmt.Sprint("call ", f.Linkage(), name))%100_000)
		}
	}
	for range chain[1:] {
		b.Leave()
	}
}

// find returns the symbol of the profile with a name. If there is none, it adds a symbol whose file
// is unknown.
func (t *trainer) find(name string) profile.SymbolRef {
	for s := range t.profile.NumSymbols() {
		if t.profile.SymbolName(profile.SymbolRef(s)) == name {
			return profile.SymbolRef(s)
		}
	}
	return t.profile.AddSymbol(profile.UnknownUnit, name)
}

// offset returns the number by which profiles give a line of a function: the distance from the
// function's declaration, in 16 bits.
func offset(line uint32, in *symbolize.Function) uint32 { return uint32(uint16(line - in.Line)) }

// heat returns the limit of the counts in a function, which is a random one of four numbers from 20
// to 200,000. So some functions are much hotter than others.
func (t *trainer) heat(name string) uint64 {
	return []uint64{20, 500, 10_000, 200_000}[t.random("heat "+name)%4]
}

// random returns a pseudo-random number that depends only on the seed and on the text what, so that
// the same program always gets the same profile.
func (t *trainer) random(what string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, t.options.Seed, " ", what)
	return h.Sum64() >> 7
}
