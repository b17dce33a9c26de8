package sampleprof

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
)

// WriteOptions configure the layout of a file written by [WriteExtBinary]. The zero value is LLVM's
// default.
type WriteOptions struct {
	MD5         bool // store MD5s of fixed length instead of names
	Compress    bool // compress every section with zlib
	SplitLayout bool // put functions without inlined bodies into sections of their own
}

// WriteExtBinary writes a profile in the ExtBinary format, version 103, which can hold everything
// in a [Profile]. It takes memory for the whole file.
//
// With zero options, the output equals that of `llvm-profdata merge --sample --extbinary`, with two
// exceptions. The order of metadata differs, because LLVM's is random. And WriteExtBinary always
// writes what LLVM writes only on request: vtables, the flag of a partial profile, and attributes
// in a profile that is neither context-sensitive nor pre-inlined.
//
// If any name is known only by its MD5, the file stores MD5s even without o.MD5. A
// context-sensitive profile with SplitLayout, and a name that contains a NUL, give errors that
// match afdo.ErrUnrepresentable.
func WriteExtBinary(w io.Writer, p *Profile, o WriteOptions) error {
	if p.ContextSensitive && o.SplitLayout {
		return unrepresentable("a context-sensitive profile in split layout")
	}
	f, err := newFileWriter(p, true)
	if err != nil {
		return err
	}
	f.options = o
	f.options.MD5 = o.MD5 || p.names.hashed > 0
	f.layOut()
	return f.write(w)
}

// WriteBinary writes a profile in the older Binary format. It leaves out and counts in Losses what
// the format cannot hold. Context-sensitive and probe-based profiles, MD5s, and names that contain
// a NUL give errors that match afdo.ErrUnrepresentable.
func WriteBinary(w io.Writer, p *Profile) (Losses, error) {
	switch {
	case p.ContextSensitive:
		return Losses{}, unrepresentable("a context-sensitive profile in the older binary format")
	case p.Probes:
		return Losses{}, unrepresentable("a probe-based profile in the older binary format")
	case p.names.hashed > 0:
		return Losses{}, unrepresentable("MD5s of names in the older binary format")
	}
	f, err := newFileWriter(p, false)
	if err != nil {
		return Losses{}, err
	}
	losses := Losses{SymbolList: len(p.SymbolList), PreInlined: p.PreInlined, VTables: f.vtables, Attributes: f.attributes}
	losses.addFlags(p)
	f.kind.vtables = false
	b := putSummary(putHeader(nil, Binary), p.Summarize())
	b = putNames(b, f.names, false)
	if _, err := w.Write(b); err != nil {
		return losses, err
	}
	b, _ = f.bodies(f.functions)
	_, err = w.Write(b)
	return losses, err
}

// A fileWriter makes a binary file. It holds the sections until all are complete and the file can
// be written.
type fileWriter struct {
	p         *Profile
	options   WriteOptions
	functions []*Function
	names     []Name
	rank      []uint32 // for each name of p, its index in names
	contexts  [][]Frame
	context   map[*Function]uint32

	summary *afdo.Summary // nil means the summary of p
	uniq    bool          // set the flag for unique internal linkage even if no name has it

	kind                kind
	vtables, attributes int // number of records

	header   []byte
	sections []Section // in the order of the section table
	data     [][]byte  // contents of each section
	order    []int     // order of the sections in the file
}

// newFileWriter returns a writer for the functions of p. The file gets the names that these
// functions use, and the names in more. It gets the names of vtables only if vtables is set.
func newFileWriter(p *Profile, vtables bool, more ...NameRef) (*fileWriter, error) {
	f := &fileWriter{p: p, functions: p.sorted()}
	used := make([]bool, len(p.names.list))
	for _, ref := range more {
		used[ref] = true
	}
	for _, fn := range f.functions {
		used[fn.Name] = true
		for _, frame := range fn.Context {
			used[frame.Name] = true
		}
		for i := range fn.Records {
			switch r := &fn.Records[i]; r.Kind {
			case KindVTable:
				f.vtables++
				used[r.Name] = used[r.Name] || vtables
			case KindTarget, KindInlined:
				used[r.Name] = true
			case KindAttributes:
				f.attributes++
			}
		}
	}
	if err := f.rankNames(used); err != nil {
		return nil, err
	}
	if p.ContextSensitive {
		f.rankContexts()
	}
	f.kind = kind{
		partial: p.Partial, contextSensitive: p.ContextSensitive, fs: p.FS, preInlined: p.PreInlined, vtables: f.vtables > 0,
		probes: p.Probes, attributes: p.ContextSensitive || p.PreInlined || f.attributes > 0,
	}
	return f, nil
}

// rankNames sorts the names of the profile that the file contains, and numbers them in that order.
// used[i] is true if the file contains name i.
func (f *fileWriter) rankNames(used []bool) error {
	var refs []NameRef
	for i, u := range used {
		if !u {
			continue
		}
		if n := f.p.names.list[i]; strings.IndexByte(n.Text, 0) >= 0 {
			return unrepresentable("the name %q holds a NUL", n.Text)
		}
		refs = append(refs, NameRef(i))
	}
	if !slices.IsSortedFunc(refs, f.p.compare) {
		slices.SortFunc(refs, f.p.compare)
	}
	f.rank = make([]uint32, len(used))
	f.names = make([]Name, len(refs))
	for i, ref := range refs {
		f.rank[ref] = uint32(i)
		f.names[i] = f.p.names.list[ref]
	}
	for _, name := range f.p.SymbolList {
		if strings.IndexByte(name, 0) >= 0 {
			return unrepresentable("the name %q of the symbol list holds a NUL", name)
		}
	}
	return nil
}

func (f *fileWriter) rankContexts() {
	list := slices.Clone(f.functions)
	slices.SortFunc(list, func(a, b *Function) int { return compareContexts(a.Context, b.Context, f.p.compare) })
	f.context = make(map[*Function]uint32, len(list))
	for i, fn := range list {
		f.context[fn] = uint32(i)
		f.contexts = append(f.contexts, fn.Context)
	}
}

// ref returns the number by which the file refers to a function: the index of its name or, in a
// context-sensitive profile, of its context.
func (f *fileWriter) ref(fn *Function) uint32 {
	if f.context != nil {
		return f.context[fn]
	}
	return f.rank[fn.Name]
}

// bodies encodes the records of functions. It returns the bytes, and the offset in them at which
// each function begins.
func (f *fileWriter) bodies(functions []*Function) ([]byte, []functionAt) {
	w := bodyWriter{rank: f.rank, vtables: f.kind.vtables}
	table := make([]functionAt, len(functions))
	for i, fn := range functions {
		table[i] = functionAt{f.ref(fn), uint64(len(w.data))}
		w.function(fn, table[i].ref)
	}
	return w.data, table
}

// layOut encodes all sections of an ExtBinary file, and then the header with the section table.
func (f *fileWriter) layOut() {
	names := SectionFlags(0)
	if f.options.MD5 {
		names = flagMD5 | flagFixedMD5
	} else if f.uniq || slices.ContainsFunc(f.names, func(n Name) bool { return strings.Contains(n.Text, ".__uniq.") }) {
		names = flagUniq
	}
	if f.summary == nil {
		f.summary = f.p.Summarize()
	}
	f.add(SectionSummary, f.kind.declared(SectionSummary), putSummary(nil, f.summary))
	f.add(SectionNames, names, putNames(nil, f.names, f.options.MD5))
	if f.options.SplitLayout {
		inlining, flat := split(f.functions)
		f.addBodies(inlining, 0)
		f.addBodies(flat, flagFlat)
		f.add(SectionSymbolList, 0, f.symbolList())
	} else {
		f.add(SectionContexts, 0, putContexts(nil, f.contexts, f.rank))
		f.addBodies(f.functions, 0)
		f.add(SectionSymbolList, 0, f.symbolList())
		// In the file LLVM writes the function offsets last, but in the table before the bodies.
		f.order[4], f.order[5] = f.order[5], f.order[4]
	}
	f.addMetadata()
	f.place()
}

// write writes the header and then the sections in the order of the file.
func (f *fileWriter) write(w io.Writer) error {
	if _, err := w.Write(f.header); err != nil {
		return err
	}
	for _, i := range f.order {
		if _, err := w.Write(f.data[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fileWriter) add(t SectionType, flags SectionFlags, data []byte) {
	if f.options.Compress {
		flags |= flagCompressed
		data = deflate(data)
	}
	i := len(f.sections)
	f.sections = append(f.sections, Section{Index: i, Type: t, Flags: flags})
	f.data = append(f.data, data)
	f.order = append(f.order, i)
}

// addBodies adds two sections for the given functions: the function offsets and the function
// records. In the section table, the function offsets come first. In the file, they come second.
func (f *fileWriter) addBodies(functions []*Function, flags SectionFlags) {
	data, table := f.bodies(functions)
	ordered := SectionFlags(0)
	if f.context != nil {
		ordered = flagOrdered
		slices.SortFunc(table, func(s, t functionAt) int { return cmp.Compare(s.ref, t.ref) })
	}
	f.add(SectionFuncOffsets, flags|ordered, putOffsets(nil, table))
	f.add(SectionBodies, flags, data)
	last := len(f.order)
	f.order[last-2], f.order[last-1] = f.order[last-1], f.order[last-2]
}

// split separates functions in which others are inlined from those without inlined functions.
func split(functions []*Function) (inlining, flat []*Function) {
	for _, fn := range functions {
		if slices.ContainsFunc(fn.Records, func(r Record) bool { return r.Kind == KindInlined }) {
			inlining = append(inlining, fn)
		} else {
			flat = append(flat, fn)
		}
	}
	return inlining, flat
}

func (f *fileWriter) symbolList() []byte {
	var b []byte
	list := slices.Compact(slices.Sorted(slices.Values(f.p.SymbolList)))
	for _, name := range list {
		b = append(append(b, name...), 0)
	}
	return b
}

func (f *fileWriter) addMetadata() {
	w := metadataWriter{
		bodyWriter: bodyWriter{rank: f.rank},
		probes:     f.kind.probes,
		attributes: f.kind.attributes,
		nested:     !f.p.ContextSensitive,
	}
	flags := f.kind.declared(SectionMetadata)
	if flags != 0 {
		for _, fn := range f.functions {
			w.function(fn, f.ref(fn))
		}
	}
	f.add(SectionMetadata, flags, w.data)
}

// place computes the file offset of each section. Then it encodes the header and the section table.
func (f *fileWriter) place() {
	head := putHeader(nil, ExtBinary)
	at := int64(len(head) + tableCountSize + len(f.sections)*tableEntrySize)
	for _, i := range f.order {
		s := &f.sections[i]
		s.Offset, s.Size = at, int64(len(f.data[i]))
		at += s.Size
	}
	f.header = putTable(head, f.sections)
}
