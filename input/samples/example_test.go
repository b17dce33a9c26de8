package samples_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
)

// This adds up the samples of two machines.
func ExampleSet_Merge() {
	all := new(samples.Set)
	for _, machine := range []string{"1\n8d0-8e3:2\n0\n1\n8e3->8d0:2\n", "1\n8d0-8e3:3\n1\n8d8:1\n0\n"} {
		s, err := samples.Parse(strings.NewReader(machine))
		if err != nil {
			log.Fatal(err)
		}
		all.Merge(s)
	}
	for r, n := range all.Ranges.All() {
		fmt.Printf("%#x to %#x ran %d times\n", r.Begin, r.End, n)
	}
	if err := all.Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0x8d0 to 0x8e3 ran 5 times
	// 1
	// 8d0-8e3:5
	// 1
	// 8d8:1
	// 1
	// 8e3->8d0:2
}
