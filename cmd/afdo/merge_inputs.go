package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/go-afdo/afdo/fleet"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/profile"
)

// gather finds out what the inputs of a command line are, in their order: arguments, each an input
// or "@" and a list of inputs, and then the lists of --input-list.
func (m *merging) gather(e *env, args []string) error {
	for _, arg := range args {
		if list, ok := strings.CutPrefix(arg, "@"); ok {
			if err := m.gatherList(e, list); err != nil {
				return err
			}
			continue
		}
		in, err := fleet.ParseInput(arg)
		if err != nil {
			return cli.Usagef("%v", err)
		}
		m.inputs = append(m.inputs, in)
	}
	for _, list := range m.lists {
		if err := m.gatherList(e, list); err != nil {
			return err
		}
	}
	switch {
	case len(m.inputs) == 0:
		return cli.Usagef("no IN")
	case countStandardInput(args, m.lists, m.inputs) > 1:
		return cli.Usagef("standard input can be read only once")
	}
	m.skipped = make([]error, len(m.inputs))
	return nil
}

// gatherList adds the inputs of a list.
func (m *merging) gatherList(e *env, path string) error {
	name, src := "standard input", e.In
	if path != cli.Stdio {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		name, src = path, io.Reader(file)
	}
	inputs, err := fleet.ReadList(name, src, m.weighing.Rules.AsOf)
	m.inputs = append(m.inputs, inputs...)
	return err
}

// weigh finds out what the inputs count for. An input that is skipped has the weight 1.
func (m *merging) weigh() error {
	m.weights = make([]profile.Ratio, len(m.inputs))
	for i := range m.inputs {
		err := m.findTime(&m.inputs[i])
		if err == nil {
			m.weights[i], err = m.weighing.Rules.Weight(&m.inputs[i])
		}
		switch {
		case errors.Is(err, fleet.ErrNoTime):
			return cli.Usagef("%v: say time= or age= in a list", err)
		case err != nil && !m.skip(i, err):
			return err
		case err != nil:
			m.weights[i] = profile.Ratio{Num: 1, Den: 1}
		}
	}
	return nil
}

// findTime gives an input of which the list tells no time that of its file.
func (m *merging) findTime(in *fleet.Input) error {
	if _, isURL := fetch.Helper(in.Path); m.weighing.Rules.HalfLife == 0 || !in.Time.IsZero() || isURL || in.Path == cli.Stdio {
		return nil
	}
	info, err := os.Stat(in.Path)
	if err == nil {
		in.Time = info.ModTime()
	}
	return err
}

// countStandardInput returns how many times standard input is to be read.
func countStandardInput(args, lists []string, inputs []fleet.Input) int {
	n := 0
	for _, arg := range args {
		if arg == "@"+cli.Stdio {
			n++
		}
	}
	for _, path := range lists {
		if path == cli.Stdio {
			n++
		}
	}
	for _, in := range inputs {
		if in.Path == cli.Stdio {
			n++
		}
	}
	return n
}
