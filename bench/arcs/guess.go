package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
)

// guess writes counters that follow from GCC's guesses, with 1,000 executions of each function.
func guess(notes, out string) error {
	all, err := units(notes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, u := range all {
		c, err := arcs.Guess(u.notes, bytes.NewReader(u.dump), 1000)
		if err != nil {
			return err
		}
		data, err := gcda.WriteCounters(c)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(u.name)+".gcda"), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
