// Package wire encodes and decodes the fields and records of version 4. Each kind of record has a
// file with both directions. [Fields] decodes and keeps the first error, and [Encoder] encodes.
//
// The package knows nothing of files, section tables, or the meaning of values. "RFC" and "format
// note" have the same meaning as in package afdo.
package wire
