package tune_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-afdo/afdo/compile/tune"
)

// The program of the current folder is built by make, trained with one text and measured with
// another one. All of this takes minutes.
func Example() {
	result, err := tune.Run(context.Background(), tune.Options{
		Build:   []string{"make"},
		Train:   []string{"./words < training.txt"},
		Measure: []string{"./words < other.txt"},
		Folder:  "/tmp/words.tune",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Verdict)
}
