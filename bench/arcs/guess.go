package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// guess writes counters that follow from GCC's branch predictions alone, as if each function had
// been entered 1,024 times. notes is the folder with the .gcno files and dumps, and out the folder
// for the .gcda files.
func guess(notes, out string) error {
	all, err := units(notes)
	if err != nil {
		return err
	}
	for _, u := range all {
		c, _, err := arcs.Infer(u.notes, bytes.NewReader(u.dump), profile.New(), arcs.Options{})
		if err != nil {
			return err
		}
		for _, f := range c.Functions {
			c.Summaries[0].SumMax = max(c.Summaries[0].SumMax, uint64(slices.Max(append(f.Counters[0].Values, 0))))
		}
		if err := writeCounters(c, out, filepath.Base(u.name)+".gcda"); err != nil {
			return err
		}
	}
	return nil
}

// writeCounters writes the counters of a unit to the .gcda file name in the folder dir.
func writeCounters(c *gcda.Counters, dir, name string) error {
	data, err := gcda.WriteCounters(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o666)
}

// readCounters reads the counters in a .gcda file.
func readCounters(path string) (*gcda.Counters, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return gcda.ReadCounters(data)
}

// only copies the .gcda files of an instrumented run from the folder truth to the folder out, with
// the counts of arcs and without all other counters.
func only(truth, out string) error {
	names, err := filepath.Glob(filepath.Join(truth, "*.gcda"))
	if err != nil {
		return err
	}
	for _, name := range names {
		c, err := readCounters(name)
		if err != nil {
			return err
		}
		for i := range c.Functions {
			f := &c.Functions[i]
			f.Counters = slices.DeleteFunc(f.Counters, func(c gcda.Counter) bool { return c.Kind != gcda.Arcs })
		}
		if err := writeCounters(c, out, filepath.Base(name)); err != nil {
			return err
		}
	}
	return nil
}
