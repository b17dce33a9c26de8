package anyprof

import (
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// sampleFile is an LLVM sample profile, read lazily.
type sampleFile struct{ r *sampleprof.Reader }

func (s *sampleFile) units() iter.Seq2[Unit, error] { return single{s.functions}.units() }

func (s *sampleFile) unit(path string) (Unit, error) { return single{s.functions}.unit(path) }

func (s *sampleFile) functions(yield func(*Function, error) bool) {
	for f, err := range s.r.Functions() {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(sampleFunction(s.r, f, slices.Clone(f.Records)), nil) {
			return
		}
	}
}

func (s *sampleFile) lookup(names []string, ask asking) (map[string][]*Function, error) {
	if s.r.Format() == sampleprof.Binary { // each lookup would read all functions before it
		return lookupAll(s.functions, names)
	}
	return ask(names, func(name string) ([]*Function, error) {
		var found []*Function
		for f, err := range s.r.Contexts(name) {
			if errors.Is(err, afdo.ErrNotFound) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			have := sampleFunction(s.r, f, slices.Clone(f.Records))
			have.Name = Name{Text: name} // the file may have hashed it
			found = append(found, have)
		}
		return found, nil
	})
}

// sampleMemory is an LLVM sample profile that was read whole.
type sampleMemory struct{ p *sampleprof.Profile }

func (s *sampleMemory) units() iter.Seq2[Unit, error] { return single{s.functions}.units() }

func (s *sampleMemory) unit(path string) (Unit, error) { return single{s.functions}.unit(path) }

func (s *sampleMemory) functions(yield func(*Function, error) bool) {
	for f := range s.p.Functions() {
		if !yield(sampleFunction(s.p, f, f.Records), nil) {
			return
		}
	}
}

func (s *sampleMemory) lookup(names []string, _ asking) (map[string][]*Function, error) {
	return lookupAll(s.functions, names)
}

// sampleNames returns the names of functions.
type sampleNames interface {
	Name(sampleprof.NameRef) sampleprof.Name
}

func sampleFunction(names sampleNames, f *sampleprof.Function, records []sampleprof.Record) *Function {
	return &Function{
		Name: sampleName(names, f.Name), Context: contextText(names, f.Context), Hash: f.Checksum(), HeadCount: f.HeadCount,
		records: func(yield func(Record, error) bool) { walkSample(names, records, yield) },
	}
}

func sampleName(names sampleNames, ref sampleprof.NameRef) Name {
	n := names.Name(ref)
	if n.Hashed {
		return Name{GUID: n.MD5}
	}
	return Name{Text: strings.Clone(n.Text)}
}

// contextText returns a calling context in its text form.
func contextText(names sampleNames, context []sampleprof.Frame) string {
	var text strings.Builder
	for i, f := range context {
		text.WriteString(names.Name(f.Name).String())
		if i == len(context)-1 {
			break
		}
		text.WriteString(":" + strconv.Itoa(int(f.Line)))
		if f.Discriminator != 0 {
			text.WriteString("." + strconv.FormatUint(uint64(f.Discriminator), 10))
		}
		text.WriteString(" @ ")
	}
	return text.String()
}

func walkSample(names sampleNames, records []sampleprof.Record, yield func(Record, error) bool) {
	var ends []int // ends of the enclosing inlined bodies
	for i, have := range records {
		for len(ends) > 0 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		r := Record{Depth: len(ends), Line: uint32(have.Line), Discriminator: have.Discriminator, Count: have.Count}
		switch have.Kind {
		case sampleprof.KindCount:
			r.Kind = Samples
		case sampleprof.KindTarget:
			r.Kind, r.Name = Call, sampleName(names, have.Name)
		case sampleprof.KindVTable:
			r.Kind, r.Name = Value, sampleName(names, have.Name)
		case sampleprof.KindInlined:
			r.Kind, r.Name, r.Count = Inlined, sampleName(names, have.Name), 0
			ends = append(ends, i+1+int(have.Span))
		default:
			continue // belongs to the function, not to a place
		}
		if !yield(r, nil) {
			return
		}
	}
}

// ErrAddresses: a raw memory profile contains addresses instead of functions. Use
// memprof.Raw.Profile with the program to resolve them.
var ErrAddresses = errors.New("a raw memory profile knows no functions, only addresses of the program")

// ErrNotes: counters of an instrumented program contain identifiers instead of names. Use
// gcda.Profile with the notes of the compile to resolve them.
var ErrNotes = errors.New("a .gcda file has no names of functions, only the notes of the compile (.gcno) have")

// memoryProfile is a memory profile with resolved functions.
type memoryProfile interface {
	memprof.Source
	Record(function uint64) (memprof.Record, error)
}

// memory is a memory profile, either a section of a file or in memory.
type memory struct{ p memoryProfile }

func (m *memory) units() iter.Seq2[Unit, error] { return single{m.functions}.units() }

func (m *memory) unit(path string) (Unit, error) { return single{m.functions}.unit(path) }

func (m *memory) functions(yield func(*Function, error) bool) {
	for rec, err := range m.p.Records() {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(m.function(Name{GUID: rec.Function}, rec), nil) {
			return
		}
	}
}

func (m *memory) lookup(names []string, ask asking) (map[string][]*Function, error) {
	return ask(names, func(name string) ([]*Function, error) {
		rec, err := m.p.Record(memprof.GUID(name))
		if errors.Is(err, afdo.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []*Function{m.function(Name{Text: name}, rec)}, nil
	})
}

func (m *memory) function(name Name, rec memprof.Record) *Function {
	return &Function{Name: name, records: func(yield func(Record, error) bool) {
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

func (n nameless) lookup([]string, asking) (map[string][]*Function, error) { return nil, n.err }

// instrFile is an indexed instrumentation profile, read lazily.
type instrFile struct{ r *instrprof.Reader }

func (n *instrFile) units() iter.Seq2[Unit, error] { return single{n.functions}.units() }

func (n *instrFile) unit(path string) (Unit, error) { return single{n.functions}.unit(path) }

func (n *instrFile) functions(yield func(*Function, error) bool) {
	for rec, err := range n.r.Records() {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(instrFunction(rec, n.name), nil) {
			return
		}
	}
}

// name returns the name with the given hash.
func (n *instrFile) name(hash uint64) (Name, error) {
	text, err := n.r.Name(hash)
	if errors.Is(err, afdo.ErrNotFound) {
		return Name{GUID: hash}, nil
	}
	return Name{Text: text}, err
}

func (n *instrFile) lookup(names []string, ask asking) (map[string][]*Function, error) {
	return ask(names, func(name string) ([]*Function, error) {
		records, err := n.r.Function(name)
		if errors.Is(err, afdo.ErrNotFound) {
			return nil, nil
		}
		var found []*Function
		for _, rec := range records {
			found = append(found, instrFunction(rec, n.name))
		}
		return found, err
	})
}

// instrRaw is a raw instrumentation profile.
type instrRaw struct{ r *instrprof.RawReader }

func (n *instrRaw) units() iter.Seq2[Unit, error] { return single{n.functions}.units() }

func (n *instrRaw) unit(path string) (Unit, error) { return single{n.functions}.unit(path) }

func (n *instrRaw) functions(yield func(*Function, error) bool) {
	for d, err := range n.r.Dumps() {
		if err != nil {
			yield(nil, err)
			return
		}
		for rec, err := range d.Records() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(instrFunction(rec, onlyHash), nil) {
				return
			}
		}
	}
}

func onlyHash(hash uint64) (Name, error) { return Name{GUID: hash}, nil }

func (n *instrRaw) lookup(names []string, _ asking) (map[string][]*Function, error) {
	return lookupAll(n.functions, names)
}

// instrMemory is an instrumentation profile that was read whole.
type instrMemory struct{ p *instrprof.Profile }

func (n *instrMemory) units() iter.Seq2[Unit, error] { return single{n.functions}.units() }

func (n *instrMemory) unit(path string) (Unit, error) { return single{n.functions}.unit(path) }

func (n *instrMemory) functions(yield func(*Function, error) bool) {
	for rec := range n.p.Records() {
		if !yield(instrFunction(rec, n.name), nil) {
			return
		}
	}
}

func (n *instrMemory) name(hash uint64) (Name, error) {
	if text, ok := n.p.Name(hash); ok {
		return Name{Text: text}, nil
	}
	return Name{GUID: hash}, nil
}

func (n *instrMemory) lookup(names []string, _ asking) (map[string][]*Function, error) {
	return lookupAll(n.functions, names)
}

// instrFunction converts a record. name returns the name for a hash.
func instrFunction(rec instrprof.Record, name func(hash uint64) (Name, error)) *Function {
	f := &Function{Name: Name{Text: rec.Name()}, Hash: rec.Hash()}
	f.records = func(yield func(Record, error) bool) {
		index := 0
		for count := range rec.Counters().All() {
			if !yield(Record{Kind: Counter, Index: index, Count: count}, nil) {
				return
			}
			index++
		}
		values(rec.Values(), name, yield)
	}
	return f
}

func values(v instrprof.Values, name func(hash uint64) (Name, error), yield func(Record, error) bool) {
	for _, k := range []instrprof.ValueKind{instrprof.IndirectCallTarget, instrprof.MemOPSize, instrprof.VTableTarget} {
		index := 0
		for site := range v.Sites(k) {
			for x := range site.All() {
				r, err := valueRecord(k, x, name)
				r.Index = index
				if !yield(r, err) || err != nil {
					return
				}
			}
			index++
		}
	}
}

func valueRecord(k instrprof.ValueKind, x instrprof.Value, name func(hash uint64) (Name, error)) (r Record, err error) {
	r = Record{Kind: Value, Count: x.Count}
	switch k {
	case instrprof.MemOPSize:
		r.Value = x.Value
		return r, nil
	case instrprof.IndirectCallTarget:
		r.Kind = Call
	}
	r.Name, err = name(x.Value)
	return r, err
}
