// Package slice selects the part of a profile that one compile uses.
//
// GCC reads the whole profile in each compile. A slice is a profile of its own that makes the
// compiler produce the same code, byte for byte, and costs next to nothing to read. It contains the
// functions of the source file and of the headers that it includes, and the other functions of the
// program that the compiler can reach from there by its rules for finding functions.
// docs/guide/slices.md lists them and says why.
//
// A [Program] is the whole profile, read lazily from a version 4 file or already in memory.
// [Program.Match] finds the units of source paths, [Program.Select] returns the slice of some
// units, and [Program.Fingerprint] returns a key of a slice, which changes when the slice does.
package slice
