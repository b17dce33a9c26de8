// Package slice takes out of a profile what one compile uses.
//
// GCC reads the whole profile in each compile. A slice is a profile of its own
// that makes the compiler produce the same code, byte for byte, and costs
// next to nothing to read: it holds the functions of the source file and of the
// headers it includes, and what else of the program the compiler's way of
// looking functions up can reach from there. docs/guide/slices.md lists that and says why.
//
// A [Program] is the whole profile, read lazily from a version 4 file or
// already in memory. [Program.Match] finds the units of source paths,
// [Program.Select] takes the slice of some units, and [Program.Fingerprint]
// gives the key of one, which changes when the slice does.
package slice
