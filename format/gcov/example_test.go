package gcov_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/format/gcov"
)

// Convert a profile for GCC 16 to version 2, which GCC 12 to 15 read, and print what version 2
// cannot hold.
func Example() {
	data, err := os.ReadFile("../../testdata/shop.v3.afdo")
	if err != nil {
		log.Fatal(err)
	}
	p, err := gcov.ParseBytes(data)
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	losses, err := gcov.Write(&out, p, gcov.WriteOptions{Version: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.NumFunctions(), "functions;", losses)
	// Output:
	// 8 functions; 4 source paths dropped; 7 timestamps dropped; summary dropped
}
