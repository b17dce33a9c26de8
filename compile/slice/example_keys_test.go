package slice_test

import (
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
)

// A build cache compiles a unit again if its key has changed, with a slice of the profile.
func ExampleProgram_Fingerprints() {
	r, err := afdo.Open("../../testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	program, err := slice.FromReader(r)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := program.Fingerprints(slice.Version2, 0) // for GCC 12 to 15
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(keys)) {
		part, err := program.Select(slice.Request{Units: []string{path}, Target: slice.Version2})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%016x %q: %d functions\n", keys[path], path, part.NumFunctions())
	}
	// Output:
	// 2ffa19da1576d085 "": 0 functions
	// 94ee07684035eadf "include/price.h": 1 functions
	// ab5599f1b248f330 "src/cart.cc": 4 functions
	// 515820fbe569b2ba "src/discount.cc": 3 functions
	// 7cee739967d2711c "src/main.cc": 1 functions
}
