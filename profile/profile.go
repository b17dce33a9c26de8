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

// A UnitRef names a unit, a source file, of one [Profile]. 0 is
// the unit of symbols whose file is unknown and has the empty path.
type UnitRef uint32

// UnknownUnit is the unit of symbols whose source file is not known (RFC 4.5, format note 8).
const UnknownUnit UnitRef = 0

// A Profile holds the samples of a program by translation unit. [New] makes one.
//
// It takes 24 bytes a record, some 40 a symbol apart from the name, and 40 a
// function, in few and large allocations.
type Profile struct {
	// Summary is the summary the profile came with, nil if its source had
	// none. Writers compute one if it is nil, see [Profile.Summarize].
	Summary *afdo.Summary

	paths []string
	files map[string]UnitRef

	symbols symbolTable
	bodies  functionTable
	marks   marks
}

// New returns an empty profile: the unknown-file unit and nothing in it.
func New() *Profile {
	return &Profile{
		paths:   []string{UnknownUnit: ""},
		files:   map[string]UnitRef{"": UnknownUnit},
		symbols: newSymbolTable(),
	}
}

// AddUnit returns the unit of a path, adding it if need be. Paths are bytes,
// not necessarily UTF-8. Units are numbered in the order in which they come.
// The path is copied.
func (p *Profile) AddUnit(path string) UnitRef {
	if f, ok := p.files[path]; ok {
		return f
	}
	path = strings.Clone(path)
	f := UnitRef(len(p.paths))
	p.paths = append(p.paths, path)
	p.files[path] = f
	return f
}

// NumUnits returns the number of units, the unknown-file unit included.
func (p *Profile) NumUnits() int { return len(p.paths) }

// UnitBySuffix returns the unit whose path is suffix or ends in it at a '/', as
// [afdo.Reader.UnitBySuffix] does.
func (p *Profile) UnitBySuffix(suffix string) (UnitRef, error) {
	var paths []string
	var found UnitRef
	for i, have := range p.paths {
		switch {
		case have == suffix:
			return UnitRef(i), nil
		case suffix != "" && (strings.HasSuffix(have, "/"+suffix) || suffix[0] == '/' && strings.HasSuffix(have, suffix)):
			paths, found = append(paths, have), UnitRef(i)
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

// UnitPath returns the path of a unit, empty for [UnknownUnit].
func (p *Profile) UnitPath(f UnitRef) string { return p.paths[f] }
