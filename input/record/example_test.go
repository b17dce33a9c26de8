package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-afdo/afdo/input/record"
)

// This records a command until it ends, or for ten seconds.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := record.Open(record.Target{Command: []string{"./prog"}}, record.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var records bytes.Buffer
	report, err := r.Run(ctx, &records)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Samples, "samples")
	out, err := os.Create("perf.data")
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(r.WriteFile(out, &records, int64(records.Len())), out.Close()); err != nil {
		log.Fatal(err)
	}
}
