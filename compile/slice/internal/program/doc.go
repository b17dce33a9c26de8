// Package program gives slices access to a whole profile: its units and symbols, the symbols that
// share a name, and the functions into which a symbol was inlined. The profile is read lazily from
// a version 4 file, with or without an index, or is already in memory.
package program
