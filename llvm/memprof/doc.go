// Package memprof reads and writes LLVM's memory profiles (MemProf): the
// section of an indexed profile, as clang takes it with -fmemory-profile-use,
// in versions 2, 3 and 4 and with any schema; the raw files that a program built
// with -fmemory-profile writes, in versions 3, 4 and 5; and the YAML of
// "llvm-profdata show --memory". The source of all formats is LLVM 22.1.8.
//
// A [Reader] decodes a section lazily: opening it reads the header, a lookup of a
// function touches its bucket and its chain, and nothing is copied. A [Profile]
// is a whole profile in memory: it adds up sections, raw files and YAML, and is what
// sections are written from. Both are a [Source], from which YAML is printed.
//
// Functions have no names here, only GUIDs: see [GUID].
package memprof
