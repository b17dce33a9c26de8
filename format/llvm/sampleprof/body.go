package sampleprof

import "encoding/binary"

// A bodyReader decodes functions from a section of a binary sample profile: the counts of their
// lines, their call targets and the bodies that were inlined in them.
type bodyReader struct {
	fields
	names    *names
	contexts *contexts // nil unless the profile is context-sensitive
	vtables  bool      // each body ends with its vtables

	ref     uint32 // name or context of the latest function
	records []Record
	open    []openBody // stack of the bodies being read, innermost last
	tangled bool       // some records are not in canonical order
}

// An openBody is a function or inlined function of which a [bodyReader] has not read all records.
type openBody struct {
	head int // index of its KindInlined record; -1 for the function itself
	left int // number of inlined bodies still to be read
	last int // index of its latest record; -1 if there is none
}

// Minimum sizes of encoded items, in bytes.
const (
	minTarget  = 2
	minRecord  = 4 // line, discriminator, count, number of targets
	minInlined = 6 // line, discriminator, name, total, number of records, number of inlined bodies
	minVTables = 3 // line, discriminator, number of types
)

// function reads a function with its head count and name. Its records are valid until the next
// call.
func (b *bodyReader) function() Function {
	f := Function{HeadCount: b.uint64()}
	f.Name, f.Context = b.functionRef()
	f.Total = b.bodies(b.begin)
	f.Records = b.records
	return f
}

// bodies reads the records of a function and of all functions inlined in it. It calls begin once
// for the function itself, with the argument -1. It also calls begin for each inlined function,
// with the index of its KindInlined record. begin reads everything up to the first inlined body,
// and returns the total. bodies returns the total of the outermost function.
func (b *bodyReader) bodies(begin func(head int) uint64) uint64 {
	b.records, b.open, b.tangled = b.records[:0], b.open[:0], false
	total := begin(-1)
	for len(b.open) > 0 && b.Err == nil {
		top := &b.open[len(b.open)-1]
		if top.left == 0 {
			b.finish()
			continue
		}
		top.left--
		head := len(b.records)
		b.add(top, Record{Kind: KindInlined, Line: b.line(), Discriminator: b.uint32("discriminator"), Name: b.name(b.names)})
		count := begin(head)
		b.records[head].Count = count
	}
	return total
}

// functionRef reads which top-level function follows. The file stores its name or, in a
// context-sensitive profile, its context.
func (b *bodyReader) functionRef() (NameRef, []Frame) {
	if b.contexts == nil {
		name := b.name(b.names)
		b.ref = uint32(name)
		return name, nil
	}
	b.ref = b.context(b.contexts)
	if b.Err != nil {
		return 0, nil
	}
	frames := b.contexts.at(b.ref)
	return frames[len(frames)-1].Name, frames
}

// begin reads the first fields of a function or inlined body: the total, the counts and the call
// targets. The bodies that are inlined in it follow. head is the index of its KindInlined record,
// or -1. begin returns the total.
func (b *bodyReader) begin(head int) uint64 {
	body := openBody{head: head, last: -1}
	total := b.uint64()
	for range b.count(minRecord, "records") {
		r := Record{Kind: KindCount, Line: b.line(), Discriminator: b.uint32("discriminator"), Count: b.uint64()}
		b.add(&body, r)
		r.Kind = KindTarget
		first := len(b.records)
		for range b.count(minTarget, "targets") {
			r.Name, r.Count = b.name(b.names), b.uint64()
			b.add(&body, r)
		}
		b.tangled = b.tangled || repeats(b.records[first:])
		if b.Err != nil {
			break
		}
	}
	body.left = b.count(minInlined, "inlined functions")
	b.open = append(b.open, body)
	return total
}

// finish ends the innermost body that is being read. It reads the last fields of that body, which
// are the types of vtables.
func (b *bodyReader) finish() {
	top := &b.open[len(b.open)-1]
	if b.vtables {
		for range b.count(minVTables, "virtual calls") {
			r := Record{Kind: KindVTable, Line: b.line(), Discriminator: b.uint32("discriminator")}
			for range b.count(minTarget, "types") {
				r.Name, r.Count = b.name(b.names), b.uint64()
				b.add(top, r)
			}
			if b.Err != nil {
				return
			}
		}
	}
	if top.head >= 0 {
		b.records[top.head].Span = uint32(len(b.records) - top.head - 1)
	}
	b.open = b.open[:len(b.open)-1]
}

// add appends a record that belongs to body. If the record is not in the order described at
// [Record], add sets b.tangled, and the records are sorted later.
func (b *bodyReader) add(body *openBody, r Record) {
	if body.last >= 0 && !b.tangled && !canonical(&b.records[body.last], &r, b.names.compare) {
		b.tangled = true
	}
	body.last = len(b.records)
	b.records = append(b.records, r)
}

// A bodyWriter encodes functions for a section of a binary sample profile. [bodyReader] decodes
// them.
type bodyWriter struct {
	data    []byte
	rank    []uint32 // for each name of the profile, its index in the names section
	vtables bool
	ends    []int // index of the end of each body being written, innermost last
}

func (w *bodyWriter) put(x uint64) { w.data = binary.AppendUvarint(w.data, x) }

// function appends an encoded function. ref is the index of its name or context in the file.
func (w *bodyWriter) function(f *Function, ref uint32) {
	w.put(f.HeadCount)
	w.put(uint64(ref))
	w.bodies(f, w.begin)
}

// bodies appends the records of a function and of all functions inlined in it. For each of these
// functions, it calls begin with the function's records, records[i:end]. begin appends everything
// up to the first inlined body, and returns the index of that body's record.
func (w *bodyWriter) bodies(f *Function, begin func(total uint64, records []Record, i, end int) int) {
	i := begin(f.Total, f.Records, 0, len(f.Records))
	for len(w.ends) > 0 {
		if end := w.ends[len(w.ends)-1]; i < end && f.Records[i].Kind == KindInlined {
			r := &f.Records[i]
			w.location(r)
			w.put(uint64(w.rank[r.Name]))
			i = begin(r.Count, f.Records, i+1, i+1+int(r.Span))
		} else {
			i = w.finish(f.Records, i, end)
		}
	}
}

func (w *bodyWriter) location(r *Record) {
	w.put(uint64(r.Line))
	w.put(uint64(r.Discriminator))
}

// begin appends the first fields of a function or inlined body, whose records are records[i:end]:
// the total, the counts and the call targets. It returns the index of the first record after them.
func (w *bodyWriter) begin(total uint64, records []Record, i, end int) int {
	w.put(total)
	w.put(uint64(countKind(records[i:end], KindCount, KindInlined)))
	for i < end && records[i].Kind < KindInlined {
		r := &records[i]
		targets := countKind(records[i+1:end], KindTarget, KindCount)
		w.location(r)
		w.put(r.Count)
		w.put(uint64(targets))
		for _, t := range records[i+1 : i+1+targets] {
			w.put(uint64(w.rank[t.Name]))
			w.put(t.Count)
		}
		i += 1 + targets
	}
	w.open(records[i:end], end)
	return i
}

// open appends the number of bodies that are inlined in a function or inlined body. rest has the
// remaining records of that function, which begin with the inlined bodies. end is the index after
// them.
func (w *bodyWriter) open(rest []Record, end int) {
	inlined := 0
	for j := 0; j < len(rest) && rest[j].Kind == KindInlined; j += rest[j].span() {
		inlined++
	}
	w.put(uint64(inlined))
	w.ends = append(w.ends, end)
}

// countKind counts the records of the given kind at the start of records. It stops at the first
// record of kind stop. It also stops at the first inlined body, vtable, checksum or attributes,
// unless that is the kind that it counts.
func countKind(records []Record, kind, stop Kind) int {
	n := 0
	for i := range records {
		if k := records[i].Kind; k == kind {
			n++
		} else if k >= KindInlined || k == stop {
			break
		}
	}
	return n
}

// finish ends the innermost body that is being written. It appends the last fields of that body,
// which are the types of vtables. It returns the index after the last record of the body.
func (w *bodyWriter) finish(records []Record, i, end int) int {
	w.ends = w.ends[:len(w.ends)-1]
	if !w.vtables {
		return end
	}
	calls := 0
	for j := i; j < end && records[j].Kind == KindVTable; j++ {
		if j == i || records[j].where() != records[j-1].where() {
			calls++
		}
	}
	w.put(uint64(calls))
	for i < end && records[i].Kind == KindVTable {
		n := 1
		for i+n < end && records[i+n].Kind == KindVTable && records[i+n].where() == records[i].where() {
			n++
		}
		w.location(&records[i])
		w.put(uint64(n))
		for _, t := range records[i : i+n] {
			w.put(uint64(w.rank[t.Name]))
			w.put(t.Count)
		}
		i += n
	}
	return end
}
