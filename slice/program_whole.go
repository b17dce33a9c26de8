package slice

import (
	"path"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A wholeProgram is a whole profile and what finds symbols in it. It may be used by many
// goroutines.
//
// It keeps what questions about the whole program need once one has been asked: some 30 bytes a
// symbol for the names, and 8 for each function inlined into another.
type wholeProgram struct {
	source source
	index  index

	unitsByPath func() map[string][]int
	lastByBase  func() map[string]int
}

// newMemory returns the program of a profile in memory.
func newMemory(p *profile.Profile) *wholeProgram {
	s := newProfileSource(p)
	return newProgram(s, &scan{source: s})
}

// newFile returns the program of a version 4 file.
func newFile(r *afdo.Reader) (*wholeProgram, error) {
	s, err := newReaderSource(r)
	if err != nil {
		return nil, err
	}
	return newProgram(s, newIndex(s)), nil
}

// newScanned returns the program of a source without an index.
func newScanned(s source) *wholeProgram { return newProgram(s, &scan{source: s}) }

func newProgram(s source, x index) *wholeProgram {
	p := &wholeProgram{source: s, index: x}
	p.unitsByPath = sync.OnceValue(func() map[string][]int {
		units := make(map[string][]int, s.numUnits())
		for i := range s.numUnits() {
			units[s.path(i)] = append(units[s.path(i)], i)
		}
		return units
	})
	p.lastByBase = sync.OnceValue(func() map[string]int {
		last := make(map[string]int)
		for i := range s.numUnits() {
			last[path.Base(s.path(i))] = i
		}
		return last
	})
	return p
}

// byPath returns the units of each path.
func (p *wholeProgram) byPath() map[string][]int { return p.unitsByPath() }

// lastOfBase returns the last unit of each last element of a path.
func (p *wholeProgram) lastOfBase() map[string]int { return p.lastByBase() }

// indexed reports whether it goes by the index that a file brings along.
func (p *wholeProgram) indexed() bool {
	_, ok := p.index.(*indexed)
	return ok
}
