// Package driver is for programs that run compilers: it gives GCC and clang the slice of a profile
// that a compile needs.
//
// [Launcher.Prepare] does everything: it takes a command line, writes the slice beside the object,
// and returns the command line to run. Its parts can be used separately: what a command line
// compiles and where to (package command), which version of the profile format a compiler reads
// ([FindCompiler]), which files a compile includes and what they may define ([FindInputs]), and
// dependency files and compilation databases (packages depfile and compdb).
//
// docs/guide/slices.md describes what the launcher does for which command line, and why.
package driver
