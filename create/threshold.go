package create

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/saturating"
)

// applyThreshold finds the functions over the threshold. The threshold applies to all parts of a
// function together. Debug info can only reduce the number of functions found here: it
// distinguishes the files of two static functions with the same name.
func (c *creation) applyThreshold() error {
	weights := make(map[string]uint64)
	for _, f := range c.functions {
		f.name = c.options.Suffixes.canonical(f.symbol.Names[0])
		weights[f.name.name] = saturating.Add(weights[f.name.name], f.weight)
	}
	hottest := uint64(0)
	chosen := make(map[string]bool)
	for name, weight := range weights {
		hottest = max(hottest, weight)
		if weight > c.options.MinSamples {
			chosen[name] = true
		}
	}
	for _, f := range c.functions {
		f.written = chosen[f.name.name]
	}
	if len(chosen) == 0 {
		return c.errThreshold(hottest)
	}
	return c.addParts(chosen)
}

func (c *creation) errThreshold(hottest uint64) error {
	return fmt.Errorf("create: %w of %d: the hottest of %d functions weighs %d", ErrThreshold, c.options.MinSamples, len(c.functions), hottest)
}

// addParts adds the parts of chosen functions that were not sampled: that their lines did not run
// is worth knowing.
func (c *creation) addParts(chosen map[string]bool) error {
	if c.options.Suffixes == NoSuffixes {
		return nil
	}
	known := make(map[uint64]bool, len(c.functions))
	for _, f := range c.functions {
		known[f.symbol.Low] = true
	}
	for s, err := range c.file.Symbols() {
		if err != nil {
			return err
		}
		name := c.options.Suffixes.canonical(s.Names[0])
		if chosen[name.name] && !known[s.Low] {
			c.functions = append(c.functions, &function{symbol: s, name: name, written: true})
		}
	}
	c.sortFunctions()
	return nil
}
