// Package cxx reads C++ as far as slices need it: texts for the functions, classes and namespaces
// that they may define, and mangled names for the identifiers and scopes that they are made of. It
// knows no types and builds no trees, and the time it takes grows with the length of what it reads.
package cxx
