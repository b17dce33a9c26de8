package slice_test

import (
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
)

// A build tool writes the slice that one compile by GCC 12 needs.
func Example() {
	r, err := afdo.Open("../../testdata/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	program, err := slice.FromReader(r)
	if err != nil {
		log.Fatal(err)
	}

	// What the compile reads, as "g++ -E" prints it.
	text := new(slice.Text)
	text.Add([]byte(`namespace shop { class NoDiscount { double apply(double) const; };
double NoDiscount::apply(double price) const { return price; } }`))
	part, err := program.Select(slice.Request{Text: text, Target: slice.Version2})
	if err != nil {
		log.Fatal(err)
	}
	for symbol := range part.Functions() {
		fmt.Println(part.SymbolName(symbol))
	}

	out, err := os.CreateTemp("", "*.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(out.Name())
	if _, err := gcov.Write(out, part, gcov.WriteOptions{Version: 2}); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// _ZNK4shop10NoDiscount5applyEd
}
