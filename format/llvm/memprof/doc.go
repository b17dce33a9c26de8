// Package memprof reads and writes LLVM's memory profiles (MemProf):
//   - the section of an indexed profile, which clang reads with -fmemory-profile-use, in versions
//     2, 3 and 4 and with any schema;
//   - the raw files that a program built with -fmemory-profile writes, in versions 3, 4 and 5
//     (reading only);
//   - the YAML that "llvm-profdata show --memory" prints.
//
// All formats follow LLVM 22.1.8.
//
// A [Reader] decodes a section lazily and copies nothing: opening it reads the header, and looking
// up a function reads one bucket and one chain of a hash table. A [Profile] is a whole profile in
// memory. It can merge sections, raw files and YAML, and writes sections. Both implement [Source],
// which [WriteYAML] prints.
//
// Profiles identify functions by GUID instead of name, see [GUID].
package memprof
