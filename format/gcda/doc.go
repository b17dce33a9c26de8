// Package gcda reads the files of GCC's coverage and instrumented profiles: notes (.gcno), which a
// compile with -ftest-coverage writes, and counters (.gcda), which an instrumented program writes
// and -fprofile-use reads. It also writes counters. It supports GCC 8 to 16 in either byte order.
//
// Notes describe the control flow graph of each function: its blocks, its arcs and the source lines
// of its blocks. Counters hold the counts of the arcs that are not on a spanning tree of the graph.
// [Function.Expand] computes the counts of all arcs, and [Function.Reduce] is its inverse.
//
// # The format
//
// A word has 32 bits in the byte order of the profiled machine. A counter is two words, the low
// word first. A string is a word with its length, and its bytes. Before GCC 12, the length counts
// words, and the string is padded with NULs; since then, it counts bytes, including the terminating
// NUL.
//
//	notes:    "gcno", version, stamp, GCC 12: checksum, GCC 9: directory, flag; records
//	counters: "gcda", version, stamp, GCC 12: checksum; records
//	record:   tag, length, contents
//	          0x01000000 a function; in notes with its name and position
//	          0x01410000 the number of blocks                 (notes)
//	          0x01430000 a block and its outgoing arcs        (notes)
//	          0x01450000 a block and its source lines         (notes)
//	          0xa1000000 the summary of the object            (counters)
//	          0xa3000000 a summary of the program, GCC 8      (counters)
//	          0x01a10000 counters of arcs                     (counters)
//	          0x01a30000 and so on, counters of values        (counters)
//
// The length of a record counts words before GCC 12 and bytes since then. If the length of counters
// is negative, which occurs since GCC 10, all of them are zero and none is stored. A tag of zero
// ends the records.
package gcda
