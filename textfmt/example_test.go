package textfmt_test

import (
	"log"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/textfmt"
)

// PrintSymbol writes the text of one function of a version 4 file. It reads nothing else of the
// file.
func ExamplePrintSymbol() {
	r, err := afdo.Open("../testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	unit, err := r.UnitBySuffix("cart.cc")
	if err != nil {
		log.Fatal(err)
	}
	symbol, err := unit.Symbol("_ZN4shop4Cart5clearEv")
	if err != nil {
		log.Fatal(err)
	}
	if err := textfmt.PrintSymbol(os.Stdout, r, symbol); err != nil {
		log.Fatal(err)
	}
	// Output:
	// filenames = {
	//   "src/cart.cc"
	// }
	//
	// summary = {
	//   total_count = 49935804392,
	//   max_count = 6187500000,
	//   max_fn_count = 41250000,
	//   num_counts = 49,
	//   num_functions = 8,
	//   num_detailed_entries = 16,
	//   detailed_entries = {
	//     {cutoff = 10000, min_count = 6187500000, num_counts = 4},
	//     {cutoff = 100000, min_count = 6187500000, num_counts = 4},
	//     {cutoff = 200000, min_count = 6187500000, num_counts = 4},
	//     {cutoff = 300000, min_count = 6187500000, num_counts = 4},
	//     {cutoff = 400000, min_count = 6187500000, num_counts = 4},
	//     {cutoff = 500000, min_count = 6187499000, num_counts = 7},
	//     {cutoff = 600000, min_count = 6187499000, num_counts = 7},
	//     {cutoff = 700000, min_count = 6187499000, num_counts = 7},
	//     {cutoff = 800000, min_count = 6187499000, num_counts = 7},
	//     {cutoff = 900000, min_count = 6146250000, num_counts = 8},
	//     {cutoff = 950000, min_count = 6146250000, num_counts = 8},
	//     {cutoff = 990000, min_count = 6146250000, num_counts = 8},
	//     {cutoff = 999000, min_count = 12400000, num_counts = 23},
	//     {cutoff = 999900, min_count = 2090000, num_counts = 28},
	//     {cutoff = 999990, min_count = 2089000, num_counts = 30},
	//     {cutoff = 999999, min_count = 40000, num_counts = 33}
	//   }
	// }
	//
	// "_ZN4shop4Cart5clearEv":0(5:12:31) = {
	//   locations = {
	//     0 = 12,
	//     1 = 12,
	//     2 = 0
	//   }
	// }
}
