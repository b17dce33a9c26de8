package main

import (
	"fmt"
	"os/exec"
	"time"
)

// race runs two programs in turn, each time with the same argument. It prints how much more
// processor time the program after takes than the program before, in percent. It compares the
// shortest run of each, which depends least on what else the machine does.
func race(rounds int, before, after, arg string) error {
	var shortest [2]time.Duration
	for range rounds {
		for i, program := range []string{before, after} {
			cmd := exec.Command(program, arg)
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			if shortest[i] == 0 || took < shortest[i] {
				shortest[i] = took
			}
		}
	}
	fmt.Printf("%+.1f", 100*(float64(shortest[1])/float64(shortest[0])-1))
	return nil
}
