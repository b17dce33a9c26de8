// Package profile is the in-memory model shared by all readers and writers of whole profiles:
// translation units, symbols, functions and their records.
//
// A [Profile] numbers its symbols itself ([SymbolRef]) and does not keep symbol IDs and other
// numbers of a file. So [Compare] finds profiles with the same content equal, whatever files they
// came from.
//
// [Read] reads version 4. For the other versions and text, use package anyprof and its method
// Profile.GCOV.
//
// Any number of goroutines may read a Profile while none changes it.
//
// References belong to one Profile. A method may panic if it is given a reference that its Profile
// did not return.
package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/summary"
)

// A UnitRef identifies a unit, which is a source file, within one [Profile].
type UnitRef uint32

// UnknownUnit is the unit of symbols whose source file is unknown. Its path is empty (RFC 4.5,
// format note 8).
const UnknownUnit UnitRef = 0

// A Profile holds the samples of a program, grouped by translation unit. Use [New] to create one.
//
// A Profile takes 24 bytes per record, 40 per symbol plus the name, and 40 per function, in few
// large allocations.
type Profile struct {
	// Summary is the summary in the file from which the profile was read, or nil. If Summary is
	// nil, writers call [Profile.Summarize].
	Summary *afdo.Summary

	paths []string
	files map[string]UnitRef

	symbols symbolTable
	bodies  functionTable
	marks   marks

	evidence *Evidence
	sum      *evidenceSum // evidence of merged profiles, or nil
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
// order in which they are added. AddUnit copies the path, which need not be valid UTF-8.
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

// UnitBySuffix returns the unit whose path equals suffix or ends with "/" + suffix, with the errors
// of [afdo.Reader.UnitBySuffix]. It compares every path.
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

// A table is a list that grows without copying its entries. A slice of a million functions would
// temporarily take twice its size when it grows. The zero table is empty.
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

// Summarize computes the summary of the profile (RFC 4.4), as defined in format note 19.
//
// Every count record is one count, including zeros and those of inlined bodies. The total
// saturates. An entry describes the smallest set of largest counts that reaches its share of the
// total; equal counts are taken together. If the share rounds down to 0, both fields of the entry
// are 0, as in LLVM's summaries.
//
// Summarize takes O(n log n) time and 8 bytes per record. It does not change p.Summary.
func (p *Profile) Summarize() *afdo.Summary {
	s := &afdo.Summary{NumFunctions: uint64(p.NumFunctions())}
	counts, positive := make([]uint64, p.numRecords()+1), 0
	for _, f := range p.Functions() {
		s.MaxFunctionCount = max(s.MaxFunctionCount, f.HeadCount)
		for i := range f.Records {
			r := &f.Records[i]
			if r.Kind != KindCount {
				continue
			}
			s.NumCounts++
			s.TotalCount = saturating.Add(s.TotalCount, r.Count)
			counts[positive] = r.Count
			positive += int((r.Count | -r.Count) >> 63) // adds 1 unless the count is 0, without an unpredictable branch
		}
	}
	counts = counts[:positive]
	slices.Sort(counts)
	if len(counts) > 0 {
		s.MaxCount = counts[len(counts)-1]
	}
	s.Entries = summary.EntriesOf(s.TotalCount, counts)
	return s
}

// numRecords returns the number of records of all functions.
func (p *Profile) numRecords() int {
	n := 0
	for _, f := range p.Functions() {
		n += len(f.Records)
	}
	return n
}
