package afdo_test

import (
	"fmt"
	"log"

	"github.com/go-afdo/afdo"
)

func Example() {
	r, err := afdo.Open("testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	// From here on, nothing but this unit is read.
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
		info, err := symbol.Info()
		if err != nil {
			log.Fatal(err)
		}
		var samples uint64
		cursor := info.Cursor()
		for cursor.Next() { // inlined functions included
			samples += cursor.Location().Count
		}
		if err := cursor.Err(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(symbol.Name(), info.HeadCount, samples)
	}

	// Unordered output:
	// _ZN4shop4Cart3addERKNS_4ItemE 12400000 74699000
	// _ZN4shop4Cart5clearEv 12 24
	// _ZNK4shop4Cart5totalERKNS_8DiscountE 41250000 49664996800
}
