// Package program is a whole profile as slices look at it: units, symbols, and the symbols that
// share a name or have a function inlined. It is read lazily from a version 4 file, with or without
// an index, or is already in memory.
package program
