package sampleprof_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// Example converts a text to an ExtBinary file and looks one function up in it.
func Example() {
	p, err := sampleprof.ParseText(strings.NewReader(`main:1500:0
 4: 300
 4.1: 500 work:480
 7: swap:700
  1: 700
work:900:480
 1: 900
`))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := sampleprof.WriteExtBinary(&file, p, sampleprof.WriteOptions{}); err != nil {
		log.Fatal(err)
	}

	r, err := sampleprof.OpenBytes(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	f, err := r.Function("main")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("main has", f.Total, "samples")
	for _, record := range f.Records {
		switch record.Kind {
		case sampleprof.KindCount:
			fmt.Println("line", record.Line, record.Count, "samples")
		case sampleprof.KindTarget:
			fmt.Println("line", record.Line, record.Count, "calls of", r.Name(record.Name))
		case sampleprof.KindInlined:
			fmt.Println("line", record.Line, "inlines", r.Name(record.Name))
		}
	}
	// Output:
	// main has 1500 samples
	// line 4 300 samples
	// line 4 500 samples
	// line 4 480 calls of work
	// line 7 inlines swap
	// line 1 700 samples
}
