// Package cxx reads C++ as far as slices need it: the functions, classes and namespaces that a text
// may define, and the identifiers and scopes in a mangled name. It knows no types and builds no
// trees. Its time is proportional to the length of what it reads.
package cxx
