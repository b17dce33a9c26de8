package verdict_test

import (
	"context"
	"debug/elf"
	"fmt"
	"log"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/verdict"
)

// The recording has two functions of a few instructions that ran 100 and 40 times. These are enough
// samples for so little code.
func Example() {
	f, err := symbolize.Open("../../input/symbolize/testdata/tiny5.so")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	program, err := elf.Open("../../input/symbolize/testdata/tiny5.so")
	if err != nil {
		log.Fatal(err)
	}
	defer program.Close()
	binary, err := samples.NewBinary(program, "tiny5.so")
	if err != nil {
		log.Fatal(err)
	}
	set, read, err := samples.Read(strings.NewReader("2\n210-230:100\n240-250:40\n0\n0\n"), binary, samples.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, made, err := create.Profile(context.Background(), f, set, create.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Of(read, made).Level)
	// Output: good
}
