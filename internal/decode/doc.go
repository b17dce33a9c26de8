// Package decode decodes the fields of binary formats. It has one decoder for all formats, which
// keeps its first error, and one type for faults.
//
// A format embeds [Buffer] in a type of its own. That type knows the part of the file that the
// bytes come from, and converts a fault to a fault.FormatError.
package decode
