// Package wire has the fields and records of version 4 as they are in a file: what decoding and
// encoding share. Each noun has a file with both directions side by side. [Fields] decodes, with an
// error that sticks, and [Encoder] encodes.
//
// Nothing here knows of files, of section tables, or of what a value means. "RFC" and "format note"
// are as in the docs of package afdo.
package wire
