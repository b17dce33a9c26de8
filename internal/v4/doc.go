// Package v4 implements the file structure of version 4. It finds the sections and units of a file,
// by its section table or its index, and returns their bytes. It reads each section once and reads
// ahead what is likely to be needed next. Package wire decodes the fields in these bytes, and
// package indexfmt the contents of an index.
//
// A [File] is the basis of a Reader in package afdo, which provides the API. This package knows
// nothing of symbols or samples. Its errors are a [Fault], a [fault.ReadError], a [VersionError],
// or match one of the classes; package afdo converts them to its own.
//
// # Dialects
//
// On GCC's mailing list there have been proposals for another header and section table, without
// known details. Only wire/header.go, table_read.go, which decodes the header, and table.go, which
// decodes the entries, know their layout. To support another dialect, add a file like
// table_read.go that fills a [sectionTable], and a case in File.readHeader.
package v4
