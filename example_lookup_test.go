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

// A Reader of bytes in memory copies nothing: it decodes records in place.
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

// A Reader of an io.ReaderAt, such as a file on a server, reads only what a lookup needs.
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

// One call looks up all call targets of a function, whatever units they are in.
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

// An error names its class, its place in the file, and what is wrong.
func ExampleFormatError() {
	_, err := afdo.OpenBytes([]byte("gcov\x00\x00\x00\x04"))
	var e *afdo.FormatError
	if errors.As(err, &e) {
		fmt.Println(errors.Is(err, afdo.ErrMalformed), e.Err, e.Offset)
	}
	// Output: true bad header 8
}
