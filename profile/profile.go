// Package profile is the in-memory model shared by all readers and writers of whole profiles:
// translation units, symbols, functions and their records.
//
// A [Profile] numbers its symbols itself ([SymbolRef]) and does not keep the numbers of a file,
// such as symbol IDs and string indexes. So equal profiles compare equal, whatever files they came
// from.
//
// [Read] takes version 4, and method GCOV of package anyprof's Profile takes any version.
//
// A Profile is not safe for concurrent use while it changes. Otherwise any number of goroutines may
// read it.
//
// Methods panic if they are given a reference or index that the Profile did not return, as for the
// index of a slice.
package profile

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo"
)

// A UnitRef identifies a unit, which is a source file, within one [Profile].
type UnitRef uint32

// UnknownUnit is the unit of symbols whose source file is unknown. Its path is empty (RFC 4.5,
// format note 8).
const UnknownUnit UnitRef = 0

// A Profile holds the samples of a program, grouped by translation unit. Use [New] to create one.
//
// It takes 24 bytes per record, 40 per symbol in addition to its name, and 40 per function, in few
// large allocations.
type Profile struct {
	// Summary is the summary in the source of the profile, or nil if there was none. If it is nil,
	// writers compute one, see [Profile.Summarize].
	Summary *afdo.Summary

	paths []string
	files map[string]UnitRef

	symbols symbolTable
	bodies  functionTable
	marks   marks
}

// New returns an empty profile, which contains only [UnknownUnit].
func New() *Profile {
	return &Profile{
		paths:   []string{UnknownUnit: ""},
		files:   map[string]UnitRef{"": UnknownUnit},
		symbols: newSymbolTable(),
	}
}

// AddUnit returns the unit with the given path, and adds it if it is new. Units are numbered in the
// order in which they are added. The path may be any bytes, not necessarily UTF-8. It is copied.
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

// NumUnits returns the number of units, including [UnknownUnit].
func (p *Profile) NumUnits() int { return len(p.paths) }

// UnitBySuffix returns the unit whose path equals suffix or ends with "/" + suffix, like
// [afdo.Reader.UnitBySuffix].
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

// A table is a list that grows without copying. A slice of a million functions would temporarily
// take twice its size when it grows. The zero table is empty.
type table[T any] struct {
	pages [][]T
	len   int
}

const pageLen = 1 << 10

func (t *table[T]) at(i int) *T { return &t.pages[uint(i)/pageLen][uint(i)%pageLen] }

func (t *table[T]) append(v T) {
	switch {
	case t.len == 0:
		t.pages = [][]T{nil} // the first page grows, which saves memory for small profiles
	case t.len%pageLen == 0:
		t.pages = append(t.pages, make([]T, 0, pageLen))
	}
	last := &t.pages[len(t.pages)-1]
	*last = append(*last, v)
	t.len++
}
