package check_test

import (
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/format/check"
)

// Check a damaged file and print its problems, grouped by kind.
func Example() {
	data, err := os.ReadFile("../../testdata/shop.afdo")
	if err != nil {
		log.Fatal(err)
	}
	data = append(data, "what is this?"...)
	for _, group := range check.Fold(check.V4(data, check.Options{})) {
		fmt.Println(group.Count, group.Err)
	}
	// Output: 1 afdo: header at offset 2155: unaccounted bytes: 13 bytes from offset 2155 to 2168 are in no section
}
