// Package symname relates the names that one function has in symbol tables and profiles: compilers
// append suffixes to the names of clones, and LLVM's profiles store a hash instead of a name.
package symname
