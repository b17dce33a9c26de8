// Package decode reads the fields of binary formats: one decoder with a sticky first error for all
// of them, and one shape of fault.
//
// A format embeds [Buffer] in a type of its own that knows which part of which file the bytes are,
// and makes an fault.FormatError of the fault.
package decode
