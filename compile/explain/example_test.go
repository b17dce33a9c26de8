package explain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/format/anyprof"
)

// Of which functions of a profile does a program have code?
func Example() {
	f, err := anyprof.Open(context.Background(), "words.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	p, err := f.GCOV()
	if err != nil {
		log.Fatal(err)
	}
	code, err := explain.Binary(context.Background(), "words")
	if err != nil {
		log.Fatal(err)
	}
	e := explain.New(p)
	e.Add(code)
	fmt.Println(e.Report())
}
