package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// A weightedInput is an argument IN[=WEIGHT] of merge.
type weightedInput struct {
	path   string
	weight profile.Ratio
}

// parseWeighted reads IN[=WEIGHT]. What follows the last "=" is a weight if it
// has nothing but digits and the signs of a ratio, and part of the path if not.
func parseWeighted(text string) (weightedInput, error) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 || i == len(text)-1 || strings.Trim(text[i+1:], "0123456789./%") != "" {
		return weightedInput{text, profile.Ratio{Num: 1, Den: 1}}, nil
	}
	weight, err := profile.ParseRatio(text[i+1:])
	if err != nil {
		return weightedInput{}, fmt.Errorf("weight of %s: %w", human.Name(text[:i]), err)
	}
	return weightedInput{text[:i], weight}, nil
}

// gatherInputs returns the inputs of a command line in their order: arguments,
// each an input or "@" and a list of inputs, and then the lists of --input-list.
func (e *env) gatherInputs(args, lists []string) ([]weightedInput, error) {
	var inputs []weightedInput
	for _, arg := range args {
		if path, ok := strings.CutPrefix(arg, "@"); ok {
			listed, err := e.readInputList(path)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, listed...)
			continue
		}
		in, err := parseWeighted(arg)
		if err != nil {
			return nil, cli.Usagef("%v", err)
		}
		inputs = append(inputs, in)
	}
	for _, path := range lists {
		listed, err := e.readInputList(path)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, listed...)
	}
	return inputs, nil
}

// readInputList reads inputs one a line. Empty lines and those that begin with "#" say nothing.
func (e *env) readInputList(path string) ([]weightedInput, error) {
	name, data, err := path, []byte(nil), error(nil)
	if path == cli.Stdio {
		name = "standard input"
		data, err = io.ReadAll(e.In)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	var inputs []weightedInput
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		in, err := parseWeighted(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// countStandardInput returns how many times standard input is to be read.
func countStandardInput(args, lists []string, inputs []weightedInput) int {
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
		if in.path == cli.Stdio {
			n++
		}
	}
	return n
}
