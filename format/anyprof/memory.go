package anyprof

import (
	"iter"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// A memory implements fileless for a memory profile, which is a section of an open file or in
// memory.
type memory struct{ p memprof.Source }

func (m *memory) functions(yield func(*Function, error) bool) {
	eachOf(m.p.Records(), m.function, yield)
}

func (m *memory) function(rec memprof.Record) *Function {
	return &Function{Name: Name{GUID: rec.Function}, records: func(yield func(Record, error) bool) {
		for _, a := range rec.Allocs {
			r, err := m.allocation(a)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}}
}

// allocation converts the allocation at a call stack to a Record. The Record's place is the
// innermost frame of the stack.
func (m *memory) allocation(a memprof.Alloc) (Record, error) {
	r := Record{Kind: Allocation, Value: a.Block[memprof.TotalSize], Count: a.Block[memprof.AllocCount]}
	for f, err := range m.p.Frames(a.Stack) {
		r.Name.GUID, r.Line, r.Column = f.Function, f.LineOffset, f.Column
		return r, err
	}
	return r, nil
}

// A nameless implements reader for a profile whose functions have no names. err is the reason.
type nameless struct{ err error }

func (n nameless) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) { yield(Unit{}, n.err) }
}

func (n nameless) unit(string) (Unit, error) { return Unit{}, n.err }
