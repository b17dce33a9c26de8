// Package indexfmt has the index section of docs/extensions.md: its pages, its blocks, and what
// stands in them. Each block has a file with both directions side by side.
//
// It knows no Reader and no file: what it finds are numbers, of units and symbols, that may fit.
// Who asks looks whether they do.
package indexfmt
