package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
)

// draw writes n randomly chosen samples of a recording without branches, as if the recording had
// been shorter. The same seed chooses the same samples.
func draw(n, seed uint64, from, to string) error {
	set, err := readSamples(from)
	if err != nil {
		return err
	}
	var sampled []uint64 // file offset of each sample
	for offset, count := range set.Addresses() {
		sampled = append(sampled, slices.Repeat([]uint64{offset}, int(count))...)
	}
	if n > uint64(len(sampled)) {
		return fmt.Errorf("%s has %d samples, not %d", from, len(sampled), n)
	}
	random := rand.New(rand.NewPCG(seed, n))
	random.Shuffle(len(sampled), func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	drawn := new(samples.Set)
	for _, offset := range sampled[:n] {
		drawn.AddAddress(offset, 1)
	}
	return writeSamples(drawn, to)
}
