package main

import (
	"fmt"
	"os/exec"
	"time"
)

// race runs two programs with the same argument in turn, and prints by how many percent the
// shortest processor time of the second differs from that of the first. The shortest of several
// runs depends least on what else the machine does.
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
