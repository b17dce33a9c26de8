package create_test

import (
	"context"
	"fmt"
	"log"
	"path"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

// The example makes a profile from samples in the text form. The text has two ranges of code, by
// offsets in the file, that ran 100 and 40 times. It has no single addresses and no branches.
func Example() {
	f, err := symbolize.Open("../../input/symbolize/testdata/tiny5.so")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	set, err := samples.Parse(strings.NewReader("2\n210-230:100\n240-250:40\n0\n0\n"))
	if err != nil {
		log.Fatal(err)
	}
	p, report, err := create.Profile(context.Background(), f, set, create.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d functions, %.0f%% of the samples have a location\n", report.Functions, 100*report.PlacedShare())
	for symbol, f := range p.Functions() {
		fmt.Println(p.SymbolName(symbol), "of", path.Base(p.UnitPath(p.SymbolUnit(symbol))))
		lines := profile.Walk(f.Records)
		for r, depth, ok := lines.Next(); ok; r, depth, ok = lines.Next() {
			if r.Kind == profile.KindInlined {
				fmt.Println(strings.Repeat("  ", depth), r.Line, "inlines", p.SymbolName(r.Callee))
			} else {
				fmt.Println(strings.Repeat("  ", depth), r.Line, r.Count)
			}
		}
	}
	// Output:
	// 2 functions, 100% of the samples have a location
	// other of tiny.c
	//  0 40
	//  1 40
	//  1 inlines more
	//    3 40
	//    3 inlines twice
	//      1 40
	//  2 40
	// tiny of tiny.c
	//  1 100
	//  1 inlines more
	//    1 100
	//    2 100
	//    3 100
	//    3 inlines twice
	//      1 100
	//  2 100
}
