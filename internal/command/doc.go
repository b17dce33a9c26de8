// Package command parses command lines of GCC and clang. It finds the sources, the outputs, the
// profile and the launchers before the compiler, and the reason if a command cannot use a profile.
package command
