package instrprof_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
)

// Example merges the raw files of two runs of a program into an indexed file, and looks one
// function up in it.
func Example() {
	run := "testdata/zoo/ir.profraw"
	inputs := []instrprof.Input{{Path: run, Weight: 1}, {Path: run, Weight: 10}}
	p, mismatches, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(mismatches), "records did not fit")
	var file bytes.Buffer
	if err := p.WriteIndexed(&file, instrprof.IndexedOptions{}); err != nil {
		log.Fatal(err)
	}

	r, err := instrprof.OpenBytes(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	records, err := r.Function("main")
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range records {
		fmt.Printf("%s, hash %#x:", record.Name(), record.Hash())
		counters := record.Counters()
		for i := range counters.Len() {
			fmt.Print(" ", counters.At(i))
		}
		fmt.Println()
	}
	// Output:
	// 0 records did not fit
	// main, hash 0x10984c560b10250: 1100 11 0 0 11
}
