// Package sampleprof reads and writes LLVM's sample profiles: text, ExtBinary and the older Binary,
// as of LLVM 22.
//
// A [Reader] reads a binary file lazily: to look up one function, it reads the names, the function
// offsets and that function. [Read], [ParseText] and [Profile.Merge] read whole profiles into a
// [Profile]. [WriteText], [WriteExtBinary] and [WriteBinary] write it, byte for byte like
// llvm-profdata except as noted at WriteExtBinary.
//
// The body of a function is the list of its records, see [Record]: counts, call targets and inlined
// bodies, which are the bodies of the functions inlined into it.
//
// docs/reference/llvm-sample.md describes what is supported, the differences from LLVM, and what
// conversions lose.
package sampleprof
