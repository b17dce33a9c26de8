package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// race compares the processor times of programs. In each round, all programs run in random order,
// for 100 ms or more. A run executes every line of the file commands: arguments, and perhaps "<"
// and a file for standard input.
//
// If the name of a program ends with %d, the number of the round replaces that. Other programs are
// copied anew after every ten rounds, because the place of a file in memory changes the time of a
// program by some percent.
//
// For each program but the first, race prints by how many percent its time exceeds that of the
// first one: the median of the rounds, and half of the width of the 95% confidence interval. In
// parentheses is the same comparison with the second program.
func race(rounds int, commands string, programs []string) error {
	text, err := os.ReadFile(commands)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "race")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	times := make([][]float64, len(programs))
	for n := range rounds {
		for _, i := range rand.Perm(len(programs)) {
			runs := filepath.Join(folder, fmt.Sprintf("program%03d", i))
			program, found := strings.CutSuffix(programs[i], "%d")
			if found {
				program += strconv.Itoa(n + 1)
			}
			if found || n%10 == 0 {
				if err := exec.Command("cp", "--remove-destination", program, runs).Run(); err != nil {
					return fmt.Errorf("%s: %w", program, err)
				}
			}
			t, err := timed(runs, string(text))
			if err != nil {
				return err
			}
			times[i] = append(times[i], t)
		}
	}
	for i := range programs[1:] {
		fmt.Print(compared(times[i+1], times[0]))
		if i > 0 {
			fmt.Printf("(%s)", compared(times[i+1], times[1]))
		}
		fmt.Print(" ")
	}
	fmt.Println()
	return nil
}

// compared returns by how many percent times exceed others, the times of another program in the
// same rounds: the median, and half of the width of its confidence interval.
func compared(times, others []float64) string {
	n := len(times)
	ratios := make([]float64, n)
	for i, t := range times {
		ratios[i] = t / others[i]
	}
	slices.Sort(ratios)
	half := int(0.98 * math.Sqrt(float64(n)))
	return fmt.Sprintf("%+.1f±%.1f", 100*(ratios[n/2]-1), 50*(ratios[min(n/2+half, n-1)]-ratios[max(n/2-half, 0)]))
}

// timed returns the seconds of processor time that a program takes for all lines of commands. It
// repeats them until they have taken 100 ms.
func timed(program, commands string) (float64, error) {
	var sum time.Duration
	for n := 1; ; n++ {
		for line := range strings.Lines(commands) {
			t, err := runLine(program, line)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", program, err)
			}
			sum += t
		}
		if sum >= 100*time.Millisecond || n >= 1000 {
			return sum.Seconds() / float64(n), nil
		}
	}
}

// runLine returns the processor time of running program once with the arguments in line. The
// program may fail on its input.
func runLine(program, line string) (time.Duration, error) {
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
