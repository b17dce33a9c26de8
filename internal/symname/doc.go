// Package symname relates the names that one function has in symbol tables and profiles: compilers
// append suffixes to the names of clones, and LLVM's profiles store a hash instead of a name.
//
// Each tool cuts its own set of suffixes:
//
//   - [CutSuffix]: what GCC 16 and google/autofdo cut, for profiles that create makes
//   - [Strip]: what a merge without suffixes ignores
//   - [StripMemProf]: what LLVM cuts before it hashes the name of a function in a memory profile
//   - [Canonical]: everything after the first dot, as GCC 12 to 15 do when they look up a function
package symname
