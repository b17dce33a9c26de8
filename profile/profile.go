// Package profile is the in-memory model that every reader and writer of whole
// profiles shares: translation units, symbols, functions and their records.
//
// A [Profile] numbers its symbols itself ([SymbolRef]); the numbers of a file
// (symbol IDs, string and name indices) never reach it, so two profiles of the
// same meaning compare equal whatever file they came from.
//
// A Profile is not safe for concurrent use while it changes; any number of
// goroutines may read one that does not.
//
// References and indices are numbers that a Profile gave out; like the indices
// of a slice they are the caller's to get right, and a method panics on one
// that its profile does not know.
package profile

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo"
)

// A FileRef names a source file (a translation unit) of one [Profile]. 0 is
// the unit of symbols whose file is unknown and has the empty path.
type FileRef uint32

// UnknownFile is the unit of symbols whose source file is not known (RFC 4.5, format note 8).
const UnknownFile FileRef = 0

// A Profile holds the samples of a program by translation unit. [New] makes one.
//
// It takes 24 bytes a record, some 40 a symbol apart from the name, and 40 a
// function, in few and large allocations.
type Profile struct {
	// Summary is the summary the profile came with, nil if its source had
	// none. Writers compute one if it is nil, see [Profile.Summarize].
	Summary *afdo.Summary

	paths []string
	files map[string]FileRef

	symbols symbolTable
	bodies  functionTable
}

// New returns an empty profile: the unknown-file unit and nothing in it.
func New() *Profile {
	return &Profile{
		paths:   []string{UnknownFile: ""},
		files:   map[string]FileRef{"": UnknownFile},
		symbols: newSymbolTable(),
	}
}

// AddFile returns the unit of a path, adding it if need be. Paths are bytes,
// not necessarily UTF-8. Units are numbered in the order in which they come.
// The path is copied.
func (p *Profile) AddFile(path string) FileRef {
	if f, ok := p.files[path]; ok {
		return f
	}
	path = strings.Clone(path)
	f := FileRef(len(p.paths))
	p.paths = append(p.paths, path)
	p.files[path] = f
	return f
}

// NumFiles returns the number of units, the unknown-file unit included.
func (p *Profile) NumFiles() int { return len(p.paths) }

// FileBySuffix returns the unit whose path is suffix or ends in it at a '/', as
// [afdo.Reader.UnitBySuffix] does.
func (p *Profile) FileBySuffix(suffix string) (FileRef, error) {
	var paths []string
	var found FileRef
	for i, have := range p.paths {
		switch {
		case have == suffix:
			return FileRef(i), nil
		case suffix != "" && (strings.HasSuffix(have, "/"+suffix) || suffix[0] == '/' && strings.HasSuffix(have, suffix)):
			paths, found = append(paths, have), FileRef(i)
		}
	}
	switch len(paths) {
	case 0:
		return 0, fmt.Errorf("profile: unit %.200q: %w", suffix, afdo.ErrNotFound)
	case 1:
		return found, nil
	}
	return 0, &afdo.AmbiguousError{Path: suffix, Paths: paths}
}

// FilePath returns the path of a unit, empty for [UnknownFile].
func (p *Profile) FilePath(f FileRef) string { return p.paths[f] }
