package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// race compares the processor times of programs. In each round, all programs run in random order,
// each with every line of the file commands: arguments, and perhaps "<" and a file for standard
// input. There are at least as many rounds as given, and more for programs that run for less than
// 100 ms. After each ten rounds, the programs are copied anew, since the place of a file in memory
// changes the time of a program by some percent. For each program but the first, race prints how
// much more time than the first one it took, in percent: the median of the rounds, and half of the
// width of its interval of 95 %.
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
	ratios, n, start := make([][]float64, len(programs)), 0, time.Now()
	for ; n < rounds || time.Since(start) < time.Duration(rounds*len(programs))*time.Second/10; n++ {
		times := make([]float64, len(programs))
		for _, i := range rand.Perm(len(programs)) {
			runs := filepath.Join(folder, fmt.Sprintf("program%03d", i))
			if n%10 == 0 {
				if err := exec.Command("cp", "--remove-destination", programs[i], runs).Run(); err != nil {
					return fmt.Errorf("%s: %w", programs[i], err)
				}
			}
			for line := range strings.Lines(string(text)) {
				t, err := timed(runs, line)
				if err != nil {
					return fmt.Errorf("%s: %w", programs[i], err)
				}
				times[i] += t.Seconds()
			}
		}
		for i, t := range times {
			ratios[i] = append(ratios[i], t/times[0])
		}
	}
	for _, of := range ratios[1:] {
		slices.Sort(of)
		half := int(0.98 * math.Sqrt(float64(n)))
		fmt.Printf("%+.1f±%.1f ", 100*(of[n/2]-1), 50*(of[min(n/2+half, n-1)]-of[max(n/2-half, 0)]))
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
