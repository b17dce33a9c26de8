package anyprof_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/profile"
)

// The format decides the type of the model, which has the contents of the profile.
func Example() {
	for _, path := range []string{"../../testdata/shop.compact.afdo", "../llvm/instrprof/testdata/zoo/ir.profdata"} {
		p, err := anyprof.Open(context.Background(), path)
		if err != nil {
			log.Fatal(err)
		}
		defer p.Close()
		switch m := p.Model().(type) {
		case *afdo.Reader:
			units, err := m.NumUnits()
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(p.Format(), units, "units")
		case *instrprof.Reader:
			fmt.Println(p.Format(), m.NumFunctions(), "functions")
		default:
			fmt.Println(p.Format())
		}
	}
	// Output:
	// v4c 5 units
	// profdata 4 functions
}

// The profiles of a fleet, in any format of GCOV, are added up. Each is opened when its turn comes.
func Example_sum() {
	paths := []string{"../../testdata/shop.v2.afdo", "../../testdata/shop.v3.afdo", "../../testdata/shop.compact.afdo"}
	sum, err := profile.Sum(len(paths), func(i int) (*profile.Profile, profile.Ratio, error) {
		weight := profile.Ratio{Num: 1, Den: 1}
		p, err := anyprof.Open(context.Background(), paths[i])
		if err != nil {
			return nil, weight, err
		}
		defer p.Close()
		whole, err := p.GCOV()
		return whole, weight, err
	})
	if err != nil {
		log.Fatal(err)
	}
	for symbol, f := range sum.Functions() {
		if sum.SymbolName(symbol) == "main" {
			fmt.Printf("%q %d\n", sum.UnitPath(sum.SymbolUnit(symbol)), f.HeadCount)
		}
	}
	// Unordered output:
	// "" 1
	// "src/main.cc" 2
}
