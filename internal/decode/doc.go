// Package decode reads the fields of binary formats: one decoder for all of them, which keeps its
// first error, and one type of fault.
//
// A format embeds [Buffer] in a type of its own, which knows the part of the file that the bytes
// come from, and turns the fault into a fault.FormatError.
package decode
