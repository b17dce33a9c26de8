package profile_test

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/profile"
)

// A profile is made record by record, and its functions are walked.
func Example() {
	p := profile.New()
	file := p.AddUnit("src/main.c")
	main := p.AddSymbol(file, "main")
	work := p.AddSymbol(file, "work")

	var b profile.Body
	b.Count(3, 0, 120)     // line 3 of main, from the line of its declaration
	b.Call(3, 0, work, 40) // what is called from there
	b.Enter(5, 1, work)    // work again, inlined at line 5, discriminator 1
	b.Count(1, 0, 77)
	b.Leave()
	p.AddFunction(main, profile.Function{HeadCount: 1, Records: b.Records()})

	for symbol, f := range p.Functions() {
		fmt.Println(p.SymbolName(symbol), "of", p.UnitPath(p.SymbolUnit(symbol)))
		walker := profile.Walk(f.Records)
		for r, depth, ok := walker.Next(); ok; r, depth, ok = walker.Next() {
			switch at := fmt.Sprint(strings.Repeat("  ", depth+1), r.Line, ".", r.Discriminator); r.Kind {
			case profile.KindCount:
				fmt.Println(at, r.Count, "samples")
			case profile.KindCall:
				fmt.Println(at, r.Count, "calls of", p.SymbolName(r.Callee))
			case profile.KindInlined:
				fmt.Println(at, "inlined", p.SymbolName(r.Callee))
			}
		}
	}
	// Output:
	// main of src/main.c
	//   3.0 120 samples
	//   3.0 40 calls of work
	//   5.1 inlined work
	//     1.0 77 samples
}

// The profiles of two machines are added, one of which counts for a half.
func ExampleProfile_MergeScaled() {
	machine := func(samples uint64) *profile.Profile {
		p := profile.New()
		var b profile.Body
		b.Count(3, 0, samples)
		main := p.AddSymbol(p.AddUnit("src/main.c"), "main")
		p.AddFunction(main, profile.Function{Records: b.Records()})
		return p
	}
	sum := profile.New()
	sum.Merge(machine(100))
	sum.MergeScaled(machine(30), profile.Ratio{Num: 1, Den: 2})
	for symbol, f := range sum.Functions() {
		fmt.Println(sum.SymbolName(symbol), f.Records[0].Count)
	}
	// Output:
	// main 115
}
