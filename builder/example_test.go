package builder_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
)

// The example builds a profile function by function, and writes it as a compact file.
func ExampleBuilder() {
	b := builder.NewBuilder()
	b.Function("src/main.c", "main", 1, 0)
	b.Count(3, 0, 120)                      // line 3 of main
	b.Call(3, 0, "src/work.c", "work", 40)  // calls from there
	b.Enter(5, 1, "include/list.h", "push") // a function inlined at line 5, discriminator 1
	b.Count(1, 0, 77)
	b.Leave()
	b.Function("src/work.c", "work", 40, 0)
	b.Count(0, 0, 40)

	var file bytes.Buffer
	if err := b.Write(&file, builder.Options{Compact: true}); err != nil {
		log.Fatal(err)
	}

	r, err := afdo.OpenBytes(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	for u, err := range r.Units() {
		if err != nil {
			log.Fatal(err)
		}
		for s, err := range u.Symbols() {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(u.Path(), s.Name(), s.HasInfo())
		}
	}
	// Output:
	// include/list.h push false
	// src/main.c main true
	// src/work.c work true
}
