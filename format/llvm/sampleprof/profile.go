package sampleprof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// A Profile holds a sample profile in memory. It holds everything in LLVM's model except the
// summary, see [Profile.Summarize]. The zero Profile is empty and ready to use.
//
// A Profile takes 24 bytes per record, about 150 per function and 100 per name. Any number of
// goroutines may read a Profile while none changes it.
type Profile struct {
	ContextSensitive bool // functions are separated by calling context
	Probes           bool // locations are pseudo-probes, and functions have checksums
	FS               bool // discriminators are flow-sensitive and use all 32 bits
	Partial          bool // the profile covers only part of the program
	PreInlined       bool // attributes contain the decisions of the pre-inliner

	// SymbolList holds the names of all functions of the profiled program. A compiler uses the list
	// to distinguish cold functions from new functions. Writers sort the list. nil means that there
	// is no list.
	SymbolList []string

	names     nameTable
	functions []Function
	byName    []uint32          // index of each name's function plus 1; 0 if it has none
	byContext map[string]uint32 // the same by context, in a context-sensitive profile
	used      bool              // a function or profile has been added, so ContextSensitive and Probes must not change
}

// Name returns the name with the given index.
func (p *Profile) Name(ref NameRef) Name { return p.names.list[ref] }

// NumNames returns the number of names.
func (p *Profile) NumNames() int { return len(p.names.list) }

// NumHashed returns the number of names of which only the MD5 is known.
func (p *Profile) NumHashed() int { return p.names.hashed }

// AddName returns the index of a name and adds the name if it is new. It copies the text. A name
// and its MD5 share an index. [Profile.Name] returns the form that was added first, until
// [Profile.Resolve] replaces the MD5 by the name.
func (p *Profile) AddName(n Name) NameRef { return p.names.add(n) }

// NumFunctions returns the number of functions.
func (p *Profile) NumFunctions() int { return len(p.functions) }

// Functions iterates over the functions in the order in which they were added. The caller must not
// change the functions.
func (p *Profile) Functions() iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for i := range p.functions {
			if !yield(&p.functions[i]) {
				return
			}
		}
	}
}

// find returns the function with the name f or, if context is not nil, the function in that
// context. It returns nil if the profile has no such function. The caller must not change the
// function.
func (p *Profile) find(f NameRef, context []Frame) *Function {
	row := p.row(f, context)
	if row == 0 {
		return nil
	}
	return &p.functions[row-1]
}

func (p *Profile) row(name NameRef, context []Frame) uint32 {
	if context != nil {
		return p.byContext[string(contextKey(context))]
	}
	if int(name) < len(p.byName) {
		return p.byName[name]
	}
	return 0
}

// contextKey returns the key for a context in the map Profile.byContext.
func contextKey(context []Frame) []byte {
	b := make([]byte, 0, 10*len(context))
	for _, f := range context {
		b = binary.LittleEndian.AppendUint32(b, uint32(f.Name))
		b = binary.LittleEndian.AppendUint32(b, f.Discriminator)
		b = binary.LittleEndian.AppendUint16(b, f.Line)
	}
	return b
}

// AddFunction adds the total, head count and records of f to the function with the same name or
// context. Sums saturate. If f, or a function inlined into it, has another checksum than in the
// profile, AddFunction leaves out the samples of that function; it returns the number of functions
// left out. It copies f.Records, which may be in any order. f must have a context if and only if
// the profile is context-sensitive.
func (p *Profile) AddFunction(f Function) (dropped int) {
	a := arranger{compare: p.compare}
	f.Records = a.arrange(nil, slices.Clone(f.Records))
	f.Context = slices.Clone(f.Context)
	m := merger{compare: p.compare}
	p.add(&f, &m)
	return m.dropped
}

// add adds the function f to the profile: its total, head count and records are added to those of
// the function with the same name or context. The records must be in the order described at
// [Record]. add copies them.
func (p *Profile) add(f *Function, m *merger) {
	p.used = true
	if row := p.row(f.Name, f.Context); row != 0 {
		have := &p.functions[row-1]
		if !m.compatible(have.Records, f.Records) {
			m.dropped++
			return
		}
		have.Total = m.add(have.Total, f.Total)
		have.HeadCount = m.add(have.HeadCount, f.HeadCount)
		sum := m.merge(have.Records, f.Records)
		if len(sum) == len(have.Records) {
			copy(have.Records, sum)
		} else {
			have.Records = slices.Clone(sum)
		}
		return
	}
	g := *f
	g.Records = slices.Clone(g.Records)
	p.functions = append(p.functions, g)
	row := uint32(len(p.functions))
	if f.Context != nil {
		if p.byContext == nil {
			p.byContext = map[string]uint32{}
		}
		p.byContext[string(contextKey(f.Context))] = row
		return
	}
	if int(f.Name) >= len(p.byName) {
		p.byName = append(p.byName, make([]uint32, len(p.names.list)-len(p.byName))...)
	}
	p.byName[f.Name] = row
}

func (p *Profile) compare(s, t NameRef) int { return p.names.compare(s, t) }

// setKind is called before q is added to p. It sets the properties of p, such as ContextSensitive
// and Probes, that q has. It returns an error if the two profiles cannot be added, for example
// because only one is context-sensitive.
func (p *Profile) setKind(q *Profile) error {
	if p.used && (p.ContextSensitive != q.ContextSensitive || p.Probes != q.Probes) {
		return fmt.Errorf("sampleprof: %w: %s and %s", ErrMixed, p.kindName(), q.kindName())
	}
	p.used = true
	p.ContextSensitive, p.Probes = q.ContextSensitive, q.Probes
	p.FS = p.FS || q.FS
	p.Partial = p.Partial || q.Partial
	p.PreInlined = p.PreInlined || q.PreInlined
	return nil
}

func (p *Profile) kindName() string {
	name := "plain"
	if p.Probes {
		name = "probe-based"
	}
	if p.ContextSensitive {
		name += ", context-sensitive"
	}
	return name
}

// withoutContexts returns a copy of the profile in which each function is the sum of its contexts.
func (p *Profile) withoutContexts() *Profile {
	q := &Profile{Probes: p.Probes, names: p.names}
	m := merger{compare: p.compare}
	for _, f := range p.functions {
		f.Context = nil
		q.add(&f, &m)
	}
	return q
}

// sorted returns the functions in the order in which LLVM writes them: by descending total, then by
// name or context.
func (p *Profile) sorted() []*Function {
	list := make([]*Function, len(p.functions))
	for i := range p.functions {
		list[i] = &p.functions[i]
	}
	slices.SortFunc(list, func(f, g *Function) int {
		switch {
		case f.Total != g.Total:
			return cmp.Compare(g.Total, f.Total)
		case p.ContextSensitive:
			return compareContexts(f.Context, g.Context, p.compare)
		case f.Name == g.Name:
			return 0
		}
		return p.compare(f.Name, g.Name)
	})
	return list
}

// Resolve replaces MD5 hashes of function names in the profile by the names, if these are among
// names or were given to [Profile.AddName], for example by a merge with a profile that has them. It
// returns the number of hashes that remain. It ignores names whose hash is not in the profile.
func (p *Profile) Resolve(names iter.Seq[string]) int {
	left := p.names.resolve(names)
	a := arranger{compare: p.compare}
	for i := range p.functions {
		f := &p.functions[i]
		f.Records = append(f.Records[:0], a.arrange(nil, f.Records)...)
	}
	return left
}
