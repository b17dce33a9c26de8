package anyprof

import (
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
)

// An instrFile implements fileless for an indexed instrumentation profile, which it reads lazily.
type instrFile struct{ r *instrprof.Reader }

func (n *instrFile) functions(yield func(*Function, error) bool) {
	eachOf(n.r.Records(), func(r instrprof.Record) *Function { return instrFunction(r, n.name) }, yield)
}

// name returns the function name with the given hash in the file.
func (n *instrFile) name(hash uint64) (Name, error) {
	text, err := n.r.Name(hash)
	if errors.Is(err, afdo.ErrNotFound) {
		return Name{GUID: hash}, nil
	}
	return Name{Text: text}, err
}

// An instrRaw implements fileless for a raw instrumentation profile.
type instrRaw struct{ r *instrprof.RawReader }

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

// An instrMemory implements fileless for an instrumentation profile that was read whole.
type instrMemory struct{ p *instrprof.Profile }

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

// instrFunction converts an instrumentation record to a Function. name returns the function name
// for a hash.
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
