package afdo_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/go-afdo/afdo"
)

// From memory nothing is copied: records are decoded where they stand.
func ExampleOpenBytes() {
	data, err := os.ReadFile("testdata/shop.afdo")
	if err != nil {
		log.Fatal(err)
	}
	r, err := afdo.OpenBytes(data)
	if err != nil {
		log.Fatal(err)
	}
	summary, err := r.Summary()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.NumFunctions, "functions")
	// Output: 8 functions
}

// Through an io.ReaderAt, such as one of a remote file, a lookup reads what it needs.
func ExampleNewReader() {
	data, err := os.ReadFile("testdata/shop.afdo")
	if err != nil {
		log.Fatal(err)
	}
	r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for unit, err := range r.Units() {
		if err != nil {
			log.Fatal(err)
		}
		n, err := unit.NumSymbols()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q %d\n", unit.Path(), n)
	}
	// Output:
	// "" 2
	// "include/price.h" 2
	// "src/cart.cc" 4
	// "src/discount.cc" 3
	// "src/main.cc" 1
}

// What call targets refer to is looked up together, whichever units it is in.
func ExampleReader_SymbolsByID() {
	r, err := afdo.Open("testdata/shop.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	unit, err := r.UnitBySuffix("cart.cc")
	if err != nil {
		log.Fatal(err)
	}
	symbol, err := unit.Symbol("_ZN4shop4Cart3addERKNS_4ItemE")
	if err != nil {
		log.Fatal(err)
	}
	info, err := symbol.Info()
	if err != nil {
		log.Fatal(err)
	}
	var callees []afdo.SymbolID
	cursor := info.Cursor()
	for cursor.Next() {
		for target := range cursor.Targets() {
			callees = append(callees, target.Callee)
		}
	}
	if err := cursor.Err(); err != nil {
		log.Fatal(err)
	}
	symbols, err := r.SymbolsByID(callees)
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(symbols, func(a, b afdo.Symbol) int { return bytes.Compare([]byte(a.Name()), []byte(b.Name())) })
	for _, s := range symbols {
		fmt.Println(s.Name())
	}
	// Output:
	// _Znwm
	// memcpy
}

// An error says what is wrong, of which class, and where.
func ExampleFormatError() {
	_, err := afdo.OpenBytes([]byte("gcov\x00\x00\x00\x04"))
	var e *afdo.FormatError
	if errors.As(err, &e) {
		fmt.Println(errors.Is(err, afdo.ErrMalformed), e.Err, e.Offset)
	}
	// Output: true bad header 8
}
