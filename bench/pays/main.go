// Command pays creates recordings for the scripts of bench/pays: the samples that a processor with
// branch records would have taken of a run counted by callgrind, and shorter recordings from a long
// one. It also compares the processor times of the programs that the scripts of bench build.
//
//	pays sample PERIOD BINARY callgrind.out OUT.samples
//	pays draw NUMBER SEED IN.samples OUT.samples
//	pays race ROUNDS COMMANDS PROGRAM...
package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/input/samples"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pays:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 5 && args[0] == "sample":
		period, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil || period == 0 {
			return fmt.Errorf("%q is no period", args[1])
		}
		return sample(period, args[2], args[3], args[4])
	case len(args) == 5 && args[0] == "draw":
		n, err := strconv.ParseUint(args[1], 10, 64)
		seed, err2 := strconv.ParseUint(args[2], 10, 64)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		return draw(n, seed, args[3], args[4])
	case len(args) >= 4 && args[0] == "race":
		rounds, err := strconv.Atoi(args[1])
		if err != nil || rounds <= 0 {
			return fmt.Errorf("%q is no number of rounds", args[1])
		}
		return race(rounds, args[2], args[3:])
	}
	return fmt.Errorf("usage: see the comment of bench/pays/main.go")
}

// sample writes the branch stacks that a processor would have recorded of a run counted by
// callgrind.
func sample(period uint64, binary, counts, to string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := samples.NewBinary(f, binary)
	if err != nil {
		return err
	}
	flow, err := readFlow(b, counts)
	if err != nil {
		return err
	}
	return writeSamples(flow.sample(period), to)
}

// writeSamples writes samples to a file.
func writeSamples(set *samples.Set, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := set.Write(out); err != nil {
		return err
	}
	return out.Close()
}

// draw writes n randomly chosen samples of a recording without branches, as if the recording had
// been shorter. The same seed chooses the same samples.
func draw(n, seed uint64, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	set, err := samples.Parse(in)
	if err != nil {
		return err
	}
	var sampled []uint64 // file offset of each sample
	for offset, count := range set.Addresses.All() {
		sampled = append(sampled, slices.Repeat([]uint64{offset}, int(count))...)
	}
	if n > uint64(len(sampled)) {
		return fmt.Errorf("%s has %d samples, not %d", from, len(sampled), n)
	}
	random := rand.New(rand.NewPCG(seed, n))
	random.Shuffle(len(sampled), func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	drawn := new(samples.Set)
	for _, offset := range sampled[:n] {
		drawn.Addresses.Add(offset, 1)
	}
	return writeSamples(drawn, to)
}
