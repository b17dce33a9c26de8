// Package command reads command lines of GCC and clang: the sources and outputs, the profile, the
// launchers before the compiler, and the reason if a command cannot use a profile.
package command
