// Package command reads command lines of GCC and clang: what they compile and where to, which
// profile they name, which launchers stand before the compiler, and why one cannot use a profile.
package command
