// Package driver is for programs that run compilers: it gives GCC and clang the slice of a profile
// that a compile needs. A slice contains only the functions that the compile can use.
//
// [Launcher.Prepare] does everything: it takes a command line, writes the slice beside the object,
// and returns the command line to run.
//
// docs/guide/slices.md describes what the launcher does for which command line, and why.
package driver
