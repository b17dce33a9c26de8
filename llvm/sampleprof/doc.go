// Package sampleprof reads and writes LLVM's sample profiles: text, ExtBinary and the older Binary,
// as of LLVM 22.
//
// A [Reader] reads a binary file lazily: one function of it takes reading the names, the function
// offsets and that function. [Read], [ParseText] and [Profile.Merge] read whole profiles into a
// [Profile], which [WriteText], [WriteExtBinary] and [WriteBinary] write. What comes out is byte
// for byte what llvm-profdata makes of the same profile.
//
// docs/llvm-sample.md says what is supported, where this package differs from LLVM, and what
// conversions lose.
package sampleprof
