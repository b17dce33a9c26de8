package index_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile/index"
)

// A file gets an index, and a Reader that trusts it finds a symbol without a look at all units.
func Example() {
	plain, err := afdo.Open("../../testdata/shop.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer plain.Close()
	var file bytes.Buffer
	if err := index.Write(&file, plain, &index.Options{Producer: "an example"}); err != nil {
		log.Fatal(err)
	}

	r, err := afdo.OpenBytes(file.Bytes(), afdo.TrustIndex())
	if err != nil {
		log.Fatal(err)
	}
	for symbol, err := range index.NewProgram(r).Named("main") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(symbol.Unit().Path(), symbol.Name())
	}
	x, err := index.Read(r)
	if err != nil {
		log.Fatal(err)
	}
	info, err := x.Info()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Producer)
	// Output:
	// src/main.cc main
	// an example
}
