// Command spawn runs a command, discards its output, and prints its cost as JSON: times in
// nanoseconds, memory in bytes.
//
// It exists because on Linux the peak memory of a process is at least that of the process that
// started it, which therefore has to be small.
package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"time"
)

type cost struct {
	Wall, Processor time.Duration
	Peak            int64
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		os.Stderr.WriteString("spawn: " + err.Error() + "\n")
		os.Exit(1)
	}
}

func run(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(start)
	s := cmd.ProcessState
	return json.NewEncoder(os.Stdout).Encode(cost{wall, s.UserTime() + s.SystemTime(), peakMemory(s)})
}
