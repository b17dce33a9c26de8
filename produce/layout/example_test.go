package layout_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/layout"
)

// The example orders the functions of a program for the linker. The program was compiled with
// -fbasic-block-address-map and recorded.
func Example() {
	f, err := symbolize.Open("prog")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	recording, err := os.Open("perf.data")
	if err != nil {
		log.Fatal(err)
	}
	defer recording.Close()
	set, err := samples.Parse(recording)
	if err != nil {
		log.Fatal(err)
	}
	l, _, err := layout.New(context.Background(), f, set, layout.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l)
}
