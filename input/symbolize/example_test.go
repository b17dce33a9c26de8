package symbolize_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/go-afdo/afdo/input/symbolize"
)

// For the code of a function this prints where it comes from: the chain of inlined calls, outermost
// function first, and the line in the innermost one.
func Example() {
	f, err := symbolize.Open("testdata/tiny5.so")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	symbol, ok, err := f.Symbol(0x240)
	if err != nil || !ok {
		log.Fatal("no function there: ", err)
	}
	for code, err := range f.Code(context.Background(), []symbolize.Symbol{symbol}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, span := range code.Spans {
			fmt.Printf("%#x", span.Low)
			for _, i := range span.Instance.Chain() {
				fmt.Print(" ", i.Function.Name)
			}
			fmt.Printf(" %s:%d\n", filepath.Base(span.Line.File), span.Line.Line)
		}
	}
	// Output:
	// 0x240 other tiny.c:15
	// 0x242 other tiny.c:16
	// 0x247 other more twice tiny.c:4
	// 0x249 other more tiny.c:9
	// 0x250 other tiny.c:17
}
