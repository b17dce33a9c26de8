// Package v4 has how version 4 lies in a file: it finds the sections and units of one, by its
// section table or by its index, and hands out their bytes, each read once and with what is likely
// to be needed next. Package wire, below it, has the fields in these bytes, and package indexfmt
// what stands in an index.
//
// A [File] is what a Reader of package afdo stands on, which has the API. Nothing here knows of
// symbols or samples. Errors are a [Fault], a [fault.ReadError], a [VersionError], or match one of
// the classes; package afdo makes its own of them.
//
// # Dialects
//
// GCC's list has seen proposals of another header and section table, whose details are not known.
// All that knows how these are laid out is header.go, which decodes the header, and table.go with
// its orders, which decode the entries. Another dialect would be one more file beside header.go,
// which fills a [sectionTable], and a case in File.readHeader.
package v4
