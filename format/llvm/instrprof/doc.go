// Package instrprof reads and writes LLVM's instrumentation profiles:
//   - indexed files, which compilers use (.profdata): versions 1 to 14 for reading, 5 to 14 for
//     writing;
//   - raw files, which instrumented programs write (.profraw): versions 4 to 11, in either byte
//     order and pointer size, for reading only;
//   - the text form (.proftext).
//
// All formats follow LLVM 22.
//
// A [Reader] looks up functions in an indexed file without reading all of it: opening reads the
// header and the summaries, and a lookup reads one bucket of the hash table and its chain. A
// [RawReader] iterates over the records of a raw file. Both return [Record] values, which are views
// of the bytes read.
//
// A [Profile] holds records in memory. [Load] and [MergeFiles] read files of any form into a new
// Profile, [Profile.AddFile] and [Profile.AddStream] into an existing one. [Profile.WriteIndexed]
// and [Profile.WriteText] write a Profile.
//
// # The format
//
// All numbers in an indexed file are little-endian and, unless noted otherwise, 64 bits wide. A
// file consists of
//
//	magic, version and flags, 0, hash type, offset of the hash table
//	further offsets: of the MemProf section (from version 8), binary IDs (9), traces (10) and
//	  vtable names (12)
//	the summary, and a summary of the context-sensitive records if there are any
//	the chains of the hash table, its number of buckets and of entries, the offset of each chain
//	the MemProf section, binary IDs, vtable names, traces
//
// A raw file consists of one or more dumps of a process's memory: a header, binary IDs, a data
// record for each function, counters, bitmaps, compressed names, vtables and value profiles. LLVM
// reads only raw files of its own version.
//
// Call targets, hash tables and traces identify a function by its [NameHash].
//
// # Limits and errors
//
// Malformed input gives an *afdo.FormatError with the section, the byte offset (in text, line and
// column) and a class for errors.Is. A count is rejected if the remaining bytes cannot hold that
// many items. Functions of a raw file may share counters and bitmaps. If their copies would take
// more than ten times the size of the sections, the error matches afdo.ErrLimit.
package instrprof
