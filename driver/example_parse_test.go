package driver_test

import (
	"fmt"
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
