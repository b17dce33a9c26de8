// Package sampleprof reads and writes LLVM's sample profiles: text, ExtBinary and the older Binary,
// as of LLVM 22.
//
// A [Reader] reads a binary file lazily: to look up one function, it reads the names, the function
// offsets and that function. [Read], [ParseText] and [Profile.Merge] read whole profiles into a
// [Profile], which [WriteText], [WriteExtBinary] and [WriteBinary] write. The output equals that of
// llvm-profdata for the same profile, byte for byte.
//
// docs/llvm-sample.md describes what is supported, the differences from LLVM, and what conversions
// lose.
package sampleprof
