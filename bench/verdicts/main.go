// Command verdicts compares a program with itself, as "afdo tune" compares two programs, while
// other processes load the machine, and prints how often the verdict is wrong.
//
//	verdicts [-comparisons N] [-load PROCESSES] [-budget TIME] PROGRAM ARGS...
//
// Each comparison copies the program twice. See bench/verdicts/run.sh.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-afdo/afdo/internal/duel"
)

func main() {
	comparisons := flag.Int("comparisons", 200, "number of comparisons")
	load := flag.Int("load", 0, "number of processes that compute all the time")
	budget := flag.Duration("budget", duel.Budget, "time until the first look")
	flag.Parse()
	if err := run(*comparisons, *load, *budget, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "verdicts:", err)
		os.Exit(1)
	}
}

func run(comparisons, load int, budget time.Duration, argv []string) error {
	for range load {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	}
	program, err := os.ReadFile(argv[0])
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "verdicts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	wrong, rounds, widest, began := 0, 0, 0.0, time.Now()
	for range comparisons {
		r, err := compare(folder, program, argv, budget)
		if err != nil {
			return err
		}
		cpu := r.CPU()
		rounds += len(r.Before)
		widest = max(widest, cpu.High, -cpu.Low)
		if cpu.Decides() != 0 {
			wrong++
			fmt.Printf("load %d: called different by %+.2f%% (%+.2f%% to %+.2f%%) after %d rounds\n", load, 100*cpu.Change, 100*cpu.Low, 100*cpu.High, len(r.Before))
		}
	}
	fmt.Printf("load %d: %d of %d comparisons wrong, %d rounds on average, intervals within %.1f%%, %v\n", load, wrong, comparisons, rounds/comparisons, 100*widest, time.Since(began).Round(time.Second))
	return nil
}

// compare copies a program twice into a folder and compares the times of the two copies, as "afdo
// tune" compares two programs. argv are the program's arguments. The comparison may take the time
// budget.
func compare(folder string, program []byte, argv []string, budget time.Duration) (*duel.Result, error) {
	var paths [2]string
	for i, name := range []string{"base", "fast"} {
		paths[i] = filepath.Join(folder, name)
		if err := os.RemoveAll(paths[i]); err != nil {
			return nil, err
		}
		if err := os.WriteFile(paths[i], program, 0o700); err != nil {
			return nil, err
		}
	}
	plan := duel.Plan{Budget: budget}
	return plan.Run(func(which int) (duel.Usage, error) {
		cmd := exec.Command(paths[which], argv[1:]...)
		start := time.Now()
		err := cmd.Run()
		u := duel.Usage{Wall: time.Since(start)}
		if cmd.ProcessState != nil {
			u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return u, err
	})
}
