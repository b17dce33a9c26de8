package arcs_test

import (
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// The condition in line 4 of f was checked a hundred times. GCC's own guesses fill the rest.
func ExampleInfer() {
	notesFile, err := os.ReadFile("testdata/gcc12.gcno")
	if err != nil {
		log.Fatal(err)
	}
	notes, err := gcda.ReadNotes(notesFile)
	if err != nil {
		log.Fatal(err)
	}
	dump, err := os.Open("testdata/gcc12.profile")
	if err != nil {
		log.Fatal(err)
	}
	defer dump.Close()
	p := profile.New()
	p.SetEvidence(&profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "f",
		Unit:   "a.c",
		Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}},
		Blocks: []profile.CodeBlock{{Count: 100, Size: 4, Places: []profile.Place{{
			Position: profile.Position{File: "a.c", Line: 4, Column: 7},
		}}}},
	}}})
	counters, _, err := arcs.Infer(notes, dump, p, arcs.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(counters.Functions), "function with counters")
	// Output: 1 function with counters
}
