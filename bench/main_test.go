package bench

import (
	"fmt"
	"os"
	"testing"
)

// scratch is a temporary folder for the files of all benchmarks.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "afdo-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}
