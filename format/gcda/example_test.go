package gcda_test

import (
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/format/gcda"
)

// The counters of a run become counts of blocks with the control flow graphs in the notes.
func Example() {
	notesFile, err := os.ReadFile("testdata/gcc12.gcno")
	if err != nil {
		log.Fatal(err)
	}
	countersFile, err := os.ReadFile("testdata/gcc12.gcda")
	if err != nil {
		log.Fatal(err)
	}
	notes, err := gcda.ReadNotes(notesFile)
	if err != nil {
		log.Fatal(err)
	}
	counters, err := gcda.ReadCounters(countersFile)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(notes.Functions), "functions,", len(counters.Functions), "with counters")
	// Output: 4 functions, 4 with counters
}
