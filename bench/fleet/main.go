// Fleet writes profiles of version 3 like those of a fleet's hosts: all hosts ran the same program,
// and each has some of its functions with its own counts. The script run.sh measures the cost of
// merging them.
//
//	fleet DIR FILES BYTES SHAPE
//
// It writes FILES files of about BYTES bytes each to the folder DIR. SHAPE is "plain" or "headers",
// see package synth. The whole program is ten times as large as one file. Half of the contents of a
// file are also in all others.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// shapes are the shapes of programs, with the bytes per function.
var shapes = map[string]struct {
	shape synth.Shape
	bytes int
}{"plain": {bytes: 440}, "headers": {synth.Headers, 3_000}}

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("usage: fleet DIR FILES BYTES SHAPE")
	}
	files, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	shape, ok := shapes[args[3]]
	if !ok {
		return fmt.Errorf("no shape %q", args[3])
	}
	functions := max(10*size/shape.bytes, 20)
	program := synth.New(synth.Options{Seed: 1, Units: max(functions/40, 1), Functions: functions, Shape: shape.shape})
	return writeAll(args[0], files, program)
}

// writeAll writes the files of all hosts, two at a time.
func writeAll(dir string, files int, program *profile.Profile) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(files) && errs[i] == nil; n = next.Add(1) - 1 {
				errs[i] = write(filepath.Join(dir, fmt.Sprintf("host%05d.afdo", n)), host(program, uint64(n)))
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// host returns the profile of the host with the given number, a part of the program's profile: one
// function in 20, which is in every host's profile, and one in 19 of the others.
func host(program *profile.Profile, number uint64) *profile.Profile {
	rng := rand.New(rand.NewPCG(number, 1))
	part, _ := program.KeepFunctions(func(s profile.SymbolRef) bool { return s%20 == 0 || rng.IntN(19) == 0 })
	p := profile.New()
	p.MergeScaled(part, profile.Ratio{Num: 1 + rng.Uint64N(100), Den: 50})
	return p
}

func write(path string, p *profile.Profile) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := gcov.Write(file, p, gcov.WriteOptions{Version: 3}); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
