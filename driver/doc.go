// Package driver knows how GCC and clang are called: what a command line compiles
// and where to, which version of the profile format a compiler reads, and which
// files a compile includes.
package driver
