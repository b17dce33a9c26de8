package anyprof_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/profile"
)

// Whatever the format of the file, this prints the unit and the samples of each function.
func Example() {
	ctx := context.Background()
	p, err := anyprof.Open(ctx, "../../testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	fmt.Println("format", p.Format())
	for f, err := range p.Functions(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		var samples uint64
		for r, err := range f.Records() { // inlined functions included
			if err != nil {
				log.Fatal(err)
			}
			if r.Kind == anyprof.Samples {
				samples += r.Count
			}
		}
		fmt.Println(f.Unit, f.Text, samples)
	}
	// Output:
	// format v4c
	// include/price.h _ZNK4shop5Price7withTaxEd 541
	// src/cart.cc _ZN4shop4Cart3addERKNS_4ItemE 74699000
	// src/cart.cc _ZN4shop4Cart5clearEv 24
	// src/cart.cc _ZNK4shop4Cart5totalERKNS_8DiscountE 49664996800
	// src/discount.cc _ZNK4shop10NoDiscount5applyEd 78240000
	// src/discount.cc _ZNK4shop14SeasonDiscount5applyEd 120000
	// src/discount.cc _ZNK4shop15PercentDiscount5applyEd 10448000
	// src/main.cc main 107300027
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
