// Package instrprof reads and writes LLVM's instrumentation profiles: the indexed files that
// compilers use (.profdata), the raw files that instrumented programs write (.profraw), and the
// text form (.proftext). It follows LLVM 22: indexed files of version 1 to 13, raw files of version
// 4 to 11 in either byte order and pointer size.
//
// A [Reader] answers questions about an indexed file without reading it: the records of one
// function cost the header, a bucket of the hash table and its chain, wherever they stand. A
// [RawReader] walks the records of a raw file. Both hand out [Record] values, views of the bytes
// that were read.
//
// A [Profile] holds records in memory. It is what profiles of any form are read and merged into
// ([Load], [Profile.AddStream], [MergeFiles]) and what [Profile.WriteIndexed] and
// [Profile.WriteText] write.
//
// # The format
//
// All numbers of an indexed file are little-endian, 64 bits wide unless said. A file is
//
//	magic, version and flags, 0, hash type, offset of the hash table
//	offsets: from version 8 of the MemProf section, 9 of the binary IDs, 10 of the traces, 12 of
//	the vtable names
//	the summary, and that of the context-sensitive records if there are any
//	the chains of the hash table, its number of buckets and of entries, an offset for each bucket
//	the MemProf section, binary IDs, vtable names, traces
//
// A raw file is one or more dumps of what a process had in memory: a header, binary IDs, a data
// record for each function, counters, bitmaps, compressed names, vtables and value profiles. LLVM
// reads raw files of its own version only.
//
// A name stands for itself or, as the target of a call, in tables and in traces, as a hash: the
// first eight bytes of its MD5, little-endian. See [NameHash].
//
// # What is refused
//
// Malformed input ends in a afdo.FormatError, which names the section, the byte offset (line
// and column in text) and a class for errors.Is. No count is believed that the bytes left cannot
// back. Functions of a raw file may share counters and bitmaps, at most so many that they take ten
// times their sections in memory; beyond that it is afdo.ErrLimit.
package instrprof
