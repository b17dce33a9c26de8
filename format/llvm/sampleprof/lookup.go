package sampleprof

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// A bodies is a section with the records of functions, which LLVM calls SecLBRProfile, together
// with the function offsets that lead to each function in it.
type bodies struct {
	section *Section
	offsets *Section // nil if there are none
	raw     *fields  // uncompressed bytes of a compressed section, once read

	table  []functionAt // function offsets in file order, once read
	heads  []uint32     // for each name or context, its first entry in table plus 1; 0 if it has none
	next   []uint32     // for each entry of table, the next entry with the same name or context plus 1; 0 if it is the last
	starts []uint64     // start of each function, ascending
}

// A functionAt is an entry of the function offsets. It says where the records of one function
// begin.
type functionAt struct {
	ref    uint32 // index of the function's name or, in a context-sensitive profile, of its context
	offset uint64 // from the start of the uncompressed section of bodies
}

func compareFunctionAt(s, t functionAt) int {
	return cmp.Or(cmp.Compare(s.ref, t.ref), cmp.Compare(s.offset, t.offset))
}

// A metadataAt is the position of a function's metadata in the file: its checksum and attributes.
type metadataAt struct {
	context []Frame
	fields  fields
}

// load reads the names and contexts, and pairs each section of function records with its function
// offsets. The caller holds the mutex.
func (r *Reader) load() error {
	if r.names != nil {
		return nil
	}
	list := &names{ordered: true}
	if s := r.section(SectionNames); s != nil {
		f, err := r.open(s)
		if err != nil {
			return err
		}
		list = f.readNames()
		if err := f.end(); err != nil {
			return err
		}
		if err := r.spent.add(int64(4*len(list.starts) + 8*len(list.md5) + 4*len(list.first))); err != nil {
			return s.fault(0, fault.ErrLimit, "%v", err)
		}
	}
	if r.kind.contextSensitive {
		r.contexts = new(contexts) // a missing section means that there are no contexts
	}
	if s := r.section(SectionContexts); s != nil && r.kind.contextSensitive {
		f, err := r.open(s)
		if err != nil {
			return err
		}
		r.contexts = f.readContexts(list)
		if err := f.end(); err != nil {
			return err
		}
	}
	if err := r.pairOffsets(); err != nil {
		return err
	}
	r.names = list
	return nil
}

// all reads everything that a lookup of functions needs: the names, the contexts and the position
// of each function's metadata. It does nothing if that has been read.
func (r *Reader) all() error {
	if err := r.src.Ready(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(); err != nil {
		return err
	}
	return r.loadMetadata()
}

// reader returns a decoder of the functions encoded in f.
func (r *Reader) reader(f fields) bodyReader {
	return bodyReader{fields: f, names: r.names, contexts: r.contexts, vtables: r.kind.vtables}
}

// metadataReader returns a decoder of the metadata of functions encoded in f.
func (r *Reader) metadataReader(f fields) metadataReader {
	m := metadataReader{bodyReader: r.reader(f), probes: r.kind.probes, attributes: r.kind.attributes}
	m.vtables = false
	return m
}

// loadMetadata reads the metadata sections to find where the metadata of each function is. The
// caller holds the mutex.
func (r *Reader) loadMetadata() error {
	if r.mapped {
		return nil
	}
	found := map[NameRef][]metadataAt{}
	for i := range r.sections {
		s := &r.sections[i]
		if s.Type != SectionMetadata || s.Size == 0 {
			continue
		}
		f, err := r.open(s)
		if err != nil {
			return err
		}
		m := r.metadataReader(*f)
		for m.Err == nil && m.Rest() > 0 {
			at := m.fields
			function := m.function()
			at.Data = at.Data[:m.Pos]
			if len(function.Records) > 0 {
				found[function.Name] = append(found[function.Name], metadataAt{function.Context, at})
			}
		}
		if m.Err != nil {
			return m.err()
		}
	}
	r.metadata, r.mapped = found, true
	return nil
}

// A functionReader reads functions one after another. It adds to each its metadata, which are
// checksums and attributes.
type functionReader struct {
	r        *Reader
	body     bodyReader
	meta     metadataReader
	arranger arranger
	merger   merger
	arranged [2][]Record
	merged   []Record
	function Function
}

func (r *Reader) functionReader(f fields) *functionReader {
	return &functionReader{
		r:        r,
		body:     r.reader(f),
		arranger: arranger{compare: r.names.compare},
		merger:   merger{compare: r.names.compare, metadata: true},
	}
}

// next reads the next function, and adds its metadata. The function is valid until the next call.
func (d *functionReader) next() (*Function, error) {
	d.function = d.body.function()
	f := &d.function
	if d.body.Err != nil {
		return nil, d.body.err()
	}
	if d.body.tangled {
		d.arranged[0] = d.arranger.arrange(d.arranged[0][:0], f.Records)
		f.Records = d.arranged[0]
	}
	for _, at := range d.r.metadata[f.Name] {
		if compareContexts(at.context, f.Context, d.r.names.compare) != 0 {
			continue
		}
		d.meta = d.r.metadataReader(at.fields)
		records := d.meta.function().Records
		if d.meta.Err != nil {
			return nil, d.meta.err()
		}
		d.arranged[1] = d.arranger.arrange(d.arranged[1][:0], records)
		d.merged = append(d.merged[:0], d.merger.merge(f.Records, d.arranged[1])...)
		f.Records = d.merged
	}
	return f, nil
}

// Functions iterates over the functions in file order. A function is valid until the next
// iteration. If the file stores a function in several pieces, which LLVM's writer never does,
// Functions yields each piece; [Read] adds them up. An error ends the iteration.
func (r *Reader) Functions() iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		if err := r.all(); err != nil {
			yield(nil, err)
			return
		}
		for _, g := range r.groups {
			for f, err := range r.scan(g, func(uint32) bool { return true }) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

// scan reads all functions of a section of function records. It yields the functions for which
// wanted returns true. ref is the index of the function's name or, in a context-sensitive profile,
// of its context. A function is valid until the next iteration. An error ends the iteration.
func (r *Reader) scan(g *bodies, wanted func(ref uint32) bool) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		raw, err := r.openBodies(g)
		if err != nil {
			yield(nil, err)
			return
		}
		d := r.functionReader(*raw)
		for d.body.Rest() > 0 {
			f, err := d.next()
			if err == nil && !wanted(d.body.ref) {
				continue
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// openBodies reads a whole section of function records. If the section is compressed, it keeps the
// decompressed bytes for later calls.
func (r *Reader) openBodies(g *bodies) (*fields, error) {
	if !g.section.compressed() {
		return r.open(g.section)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.raw == nil {
		raw, err := r.open(g.section)
		if err == nil && len(raw.Data) == 0 {
			err = g.section.fault(0, fault.ErrSection, "no function") // writers do not compress nothing
		}
		if err != nil {
			return nil, err
		}
		g.raw = raw
	}
	return g.raw, nil
}

// Function returns the function with the given name, or afdo.ErrNotFound. In a context-sensitive
// profile, name is a context in its text form, for example "main:3 @ callee", or a single name for
// the base context of a function. The records belong to the caller.
//
// The first call reads the names, the contexts and, if the profile has probes or attributes, the
// metadata. Function then reads the function offsets and only the bodies that it returns. If the
// file has no function offsets, it reads all bodies. In a context-sensitive profile, it compares
// all contexts. In a damaged file, it does not find a function that the function offsets do not
// list; [Reader.Check] reports such a file.
func (r *Reader) Function(name string) (*Function, error) {
	if err := r.all(); err != nil {
		return nil, err
	}
	if r.contexts == nil {
		ref, ok := r.names.find(name)
		return r.function(uint32(ref), ok, name)
	}
	frames, known := parseContext(unbracketed(name), r.names.find)
	i, ok := r.contexts.find(frames)
	return r.function(i, known && ok, name)
}

// FunctionByGUID works like [Reader.Function] for a function of which only the GUID of its name is
// known, see [Name.GUID]. In a context-sensitive profile it returns the base context, the one
// without callers. If the file stores names instead of their MD5s, each call hashes the names in
// order until one has this GUID.
func (r *Reader) FunctionByGUID(guid uint64) (*Function, error) {
	if err := r.all(); err != nil {
		return nil, err
	}
	ref, ok := NameRef(0), false
	if r.names.md5 != nil {
		ref, ok = r.names.findMD5(guid)
	} else {
		for i := 0; i < r.names.len() && !ok; i++ {
			ref = NameRef(i)
			ok = r.names.name(ref).GUID() == guid
		}
	}
	if r.contexts == nil || !ok {
		return r.function(uint32(ref), ok, fmt.Sprintf("%#x", guid))
	}
	i, ok := r.contexts.find([]Frame{{Name: ref}})
	return r.function(i, ok, fmt.Sprintf("%#x", guid))
}

// Contexts iterates over all contexts of the function with the given name, in the order of the
// contexts section. In a profile without contexts, it yields the function itself. It reads as much
// as [Reader.Function], and only the bodies that it yields. An error ends the iteration. A name
// that the file does not contain gives afdo.ErrNotFound.
func (r *Reader) Contexts(name string) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		if err := r.all(); err != nil {
			yield(nil, err)
			return
		}
		ref, ok := r.names.find(name)
		if r.contexts == nil || !ok {
			f, err := r.function(uint32(ref), ok, name)
			yield(f, err)
			return
		}
		for i := range r.contexts.len() {
			frames := r.contexts.at(uint32(i))
			if frames[len(frames)-1].Name != ref {
				continue
			}
			f, err := r.function(uint32(i), true, name)
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// function returns the function whose name or context has the index ref. If ok is false, there is
// none, and function returns an error with name. If the file stores the function in several pieces,
// the result is their sum.
func (r *Reader) function(ref uint32, ok bool, name string) (*Function, error) {
	if !ok {
		return nil, missing(name)
	}
	var whole *Function
	for _, g := range r.groups {
		for f, err := range r.named(g, ref) {
			if err != nil {
				return nil, err
			}
			whole = r.join(whole, f)
		}
	}
	if whole == nil {
		return nil, missing(name)
	}
	return whole, nil
}

// named yields the function whose name or context has the index ref from one section of function
// records. If the section stores the function in several pieces, named yields each of them. If the
// section has function offsets, named reads no other function.
func (r *Reader) named(g *bodies, ref uint32) iter.Seq2[*Function, error] {
	if g.offsets == nil {
		return r.scan(g, func(other uint32) bool { return other == ref })
	}
	return func(yield func(*Function, error) bool) {
		if err := r.loadOffsets(g); err != nil {
			yield(nil, err)
			return
		}
		for at := g.heads[ref]; at > 0; at = g.next[at-1] {
			if f, err := r.functionAt(g, g.table[at-1]); !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// functionAt reads the function to which an entry of the function offsets leads.
func (r *Reader) functionAt(g *bodies, e functionAt) (*Function, error) {
	end := uint64(0)
	if next, _ := slices.BinarySearch(g.starts, e.offset+1); next < len(g.starts) {
		end = g.starts[next]
	}
	f, err := r.viewBodies(g, e.offset, end)
	if err != nil {
		return nil, err
	}
	d := r.functionReader(f)
	function, err := d.next()
	if err == nil && d.body.ref != e.ref {
		return nil, f.section.fault(f.start, fault.ErrSection, "the function offsets say that another function begins here")
	}
	return function, err
}

// viewBodies returns the bytes from start to end of a section of function records, after
// decompression. If end is 0, it returns all bytes from start on.
func (r *Reader) viewBodies(g *bodies, start, end uint64) (fields, error) {
	first, size := g.section.Offset, uint64(g.section.Size)
	var inflated []byte
	if g.section.compressed() {
		raw, err := r.openBodies(g)
		if err != nil {
			return fields{}, err
		}
		inflated, first, size = raw.Data, 0, uint64(len(raw.Data))
	}
	if start >= size || end > size {
		return fields{}, g.section.fault(first+int64(size), fault.ErrSection, "the function offsets lead to %d", max(start, end))
	}
	end = cmp.Or(end, size)
	f := fields{section: g.section, start: first + int64(start)}
	if inflated != nil {
		f.Data = inflated[start:end]
		return f, nil
	}
	var err error
	f.Data, err = r.src.View(f.start, int(end-start))
	return f, err
}

// join returns the sum of whole and f. The file stores a function in several pieces: f is the next
// piece, and whole is the sum of the pieces before it, or nil for the first piece.
func (r *Reader) join(whole, f *Function) *Function {
	if whole == nil {
		first := *f
		first.Records = slices.Clone(f.Records)
		return &first
	}
	m := merger{compare: r.names.compare}
	whole.HeadCount = m.add(whole.HeadCount, f.HeadCount)
	whole.Total = m.add(whole.Total, f.Total)
	whole.Records = slices.Clone(m.merge(whole.Records, f.Records))
	return whole
}
