// Package indexfmt implements the index section (docs/reference/extensions.md): its pages, its
// blocks and their contents. Each kind of block has a file with both reading and writing.
//
// The package knows nothing of Readers and files. Lookups return the numbers of units and symbols
// that may match. The caller has to verify them.
package indexfmt
