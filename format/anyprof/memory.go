package anyprof

import (
	"iter"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// memory is a memory profile, either a section of a file or in memory.
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

// allocation converts the allocation at a call stack. The place is that of the innermost frame.
func (m *memory) allocation(a memprof.Alloc) (Record, error) {
	r := Record{Kind: Allocation, Value: a.Block[memprof.TotalSize], Count: a.Block[memprof.AllocCount]}
	for f, err := range m.p.Frames(a.Stack) {
		r.Name.GUID, r.Line, r.Column = f.Function, f.LineOffset, f.Column
		return r, err
	}
	return r, nil
}

// nameless is a profile that cannot name its functions, for the reason in err.
type nameless struct{ err error }

func (n nameless) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) { yield(Unit{}, n.err) }
}

func (n nameless) unit(string) (Unit, error) { return Unit{}, n.err }
