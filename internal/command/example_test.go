package command_test

import (
	"fmt"
	"path/filepath"

	"github.com/go-afdo/afdo/internal/command"
)

// A build tool asks which sources a command compiles, and to which object.
func ExampleParse() {
	dir := filepath.FromSlash("/src/shop")
	c := command.Parse([]string{"nice", "ccache", "g++", "-O2", "-Iinclude", "-c", "cart.cc", "-o", "out/cart.o"}, dir)
	fmt.Println(c.Launcher, c.Compiler, c.Sources, c.Object)

	c = command.Parse([]string{"g++", "-E", "cart.cc"}, dir)
	fmt.Println(c.Reason)
	// Output:
	// [nice ccache] g++ [cart.cc] out/cart.o
	// it only preprocesses
}
