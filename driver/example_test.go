package driver_test

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-afdo/afdo/driver"
)

// A build tool asks what a command of its own compiles, and where to.
func ExampleParseCommand() {
	dir := filepath.FromSlash("/src/shop")
	c := driver.ParseCommand([]string{"nice", "ccache", "g++", "-O2", "-Iinclude", "-c", "cart.cc", "-o", "out/cart.o"}, dir)
	fmt.Println(c.Launcher, c.Compiler, c.Sources, c.Object)
	fmt.Println(driver.SlicePath(c.Object))

	c = driver.ParseCommand([]string{"g++", "-E", "cart.cc"}, dir)
	fmt.Println(c.Reason)
	// Output:
	// [nice ccache] g++ [cart.cc] out/cart.o
	// out/cart.o.afdo
	// it only preprocesses
}

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
	plan, err := launcher.Prepare([]string{"gcc", "-O2", "-c", "prog.c"}, dir)
	if err != nil {
		log.Fatal(err)
	}
	cmd := exec.Command(plan.Argv[0], plan.Argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
}
