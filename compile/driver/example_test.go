package driver_test

import (
	"context"
	"log"
	"os"
	"os/exec"

	"github.com/go-afdo/afdo/compile/driver"
)

// A compiler driver gives the compiler the slice that a command needs, as afdo exec does.
func ExampleLauncher_Prepare() {
	cache, err := driver.OpenCache()
	if err != nil {
		log.Print(err) // it works without, and takes longer
	}
	launcher := driver.Launcher{Profile: "/data/prof.v4", Cache: cache, Warn: func(text string) { log.Print(text) }}

	dir, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := launcher.Prepare(context.Background(), []string{"gcc", "-O2", "-c", "prog.c"}, dir)
	if err != nil {
		log.Fatal(err)
	}
	cmd := exec.Command(plan.Argv[0], plan.Argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
}
