package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// race compares the processor times of programs. In each round, all programs run one after the
// other, each with every line of the file commands: arguments, and perhaps "<" and a file for
// standard input. For each program but the first, race prints how much more time than the first one
// it took, in percent, in the median of the rounds.
func race(rounds int, commands string, programs []string) error {
	text, err := os.ReadFile(commands)
	if err != nil {
		return err
	}
	ratios := make([][]float64, len(programs))
	for range rounds {
		var first time.Duration
		for i, program := range programs {
			sum := time.Duration(0)
			for line := range strings.Lines(string(text)) {
				t, err := timed(program, line)
				if err != nil {
					return fmt.Errorf("%s: %w", program, err)
				}
				sum += t
			}
			if i == 0 {
				first = sum
			}
			ratios[i] = append(ratios[i], float64(sum)/float64(first))
		}
	}
	for _, of := range ratios[1:] {
		slices.Sort(of)
		fmt.Printf("%+.1f ", 100*(of[rounds/2]-1))
	}
	fmt.Println()
	return nil
}

// timed returns the processor time of one run. A program may fail on its input.
func timed(program, line string) (time.Duration, error) {
	arguments, input, redirected := strings.Cut(strings.TrimSpace(line), " < ")
	cmd := exec.Command(program, strings.Fields(arguments)...)
	if redirected {
		f, err := os.Open(input)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
