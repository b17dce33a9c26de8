package afdo_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/go-afdo/afdo"
)

// The example prints everything that a file contains about one unit: its functions, the samples of
// their lines, the targets of their calls, and the functions inlined into them.
func ExampleCursor() {
	r, err := afdo.Open("testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	unit, err := r.UnitBySuffix("cart.cc")
	if err != nil {
		log.Fatal(err)
	}
	for symbol, err := range unit.Symbols() {
		if err != nil {
			log.Fatal(err)
		}
		if !symbol.HasInfo() {
			continue // only called or inlined
		}
		if err := printFunction(r, symbol); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// _ZN4shop4Cart3addERKNS_4ItemE
	// 	0: 12400000
	// 	1: 12400000
	// 	1: inlined _ZNK4shop4Cart4fullEv
	// 		0: 12400000
	// 		1: 12390000
	// 	2: 310000
	// 		calls _Znwm 310000 times
	// 	3: 12399000
	// 		calls memcpy 12400000 times
	// 	4: 12400000
	// _ZN4shop4Cart5clearEv
	// 	0: 12
	// 	1: 12
	// 	2: 0
	// _ZNK4shop4Cart5totalERKNS_8DiscountE
	// 	0: 41250000
	// 	1: 41249800
	// 	2: 41250000
	// 	2: 6187500000
	// 	2: 6146250000
	// 	3: 6187499000
	// 	3: inlined _ZNK4shop5Price7withTaxEd
	// 		1: 6187499000
	// 		1: inlined _ZN4shop9roundCentEd
	// 			0: 6187499000
	// 			1: 6187500000
	// 			1: 0
	// 		2: 6187500000
	// 	3: 6187500000
	// 	5: 41250000
	// 		calls _ZNK4shop10NoDiscount5applyEd 39120000 times
	// 		calls _ZNK4shop14SeasonDiscount5applyEd 40000 times
	// 		calls _ZNK4shop15PercentDiscount5applyEd 2090000 times
	// 	6: 0
	// 	8: 41250000
}

func printFunction(r *afdo.Reader, symbol afdo.Symbol) error {
	info, err := symbol.Info()
	if err != nil {
		return err
	}
	fmt.Println(symbol.Name())
	cursor := info.Cursor()
	for cursor.Next() {
		location := cursor.Location()
		indent := strings.Repeat("\t", cursor.Depth()+1)
		switch location.Type {
		case afdo.LocationInlinedFn: // the records of its body come next, one level deeper
			callee, err := r.SymbolByID(location.Callee)
			if err != nil {
				return err
			}
			fmt.Printf("%s%d: inlined %s\n", indent, location.Line, callee.Name())
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			for target := range cursor.Targets() {
				callee, err := r.SymbolByID(target.Callee)
				if err != nil {
					return err
				}
				fmt.Printf("%s\tcalls %s %d times\n", indent, callee.Name(), target.Count)
			}
		default:
			fmt.Printf("%s%d: %d\n", indent, location.Line, location.Count)
		}
	}
	return cursor.Err()
}
