package sampleprof

// A metadataReader decodes the metadata of functions. These are the checksums and attributes of
// each function and of the functions inlined in it. The result has the form of records.
type metadataReader struct {
	bodyReader
	probes     bool
	attributes bool
}

// minMetadata is the minimum size of an inlined function's metadata in bytes, without its checksum
// and attributes.
const minMetadata = 3 // line, discriminator, name

// function reads the metadata of a function, as a [Function] that has no counts. Its records are
// valid until the next call.
func (m *metadataReader) function() Function {
	f := Function{}
	f.Name, f.Context = m.functionRef()
	m.bodies(m.begin)
	f.Records = m.records
	return f
}

// begin reads the checksum and the attributes of a function or inlined function. The functions
// inlined in it come after them in the file. So the records are not in the order described at
// [Record]. head is the index of the KindInlined record, or -1. begin returns 0, because metadata
// has no totals.
func (m *metadataReader) begin(head int) (total uint64) {
	body := openBody{head: head, last: -1}
	if m.probes {
		m.own(KindChecksum, m.uint64())
	}
	if m.attributes {
		m.own(KindAttributes, uint64(m.uint32("attributes")))
	}
	if m.contexts == nil { // in a context-sensitive profile, inlined functions have contexts of their own
		body.left = m.count(minMetadata, "inlined functions")
	}
	m.open = append(m.open, body)
	return 0
}

func (m *metadataReader) own(kind Kind, value uint64) {
	if value != 0 {
		m.records = append(m.records, Record{Kind: kind, Count: value})
		m.tangled = true
	}
}

// A metadataWriter encodes the metadata of functions.
type metadataWriter struct {
	bodyWriter
	probes     bool
	attributes bool
	nested     bool // metadata of inlined functions follows; false in a context-sensitive profile
}

// function appends the encoded metadata of a function: its checksum and attributes, and those of
// functions inlined in it. ref is the index of its name or context in the file.
func (w *metadataWriter) function(f *Function, ref uint32) {
	w.put(uint64(ref))
	w.bodies(f, w.begin)
}

// begin appends the checksum and the attributes of a function or inlined function, whose records
// are records[i:end]. It returns the index of the record of the first function that is inlined in
// it.
func (w *metadataWriter) begin(_ uint64, records []Record, i, end int) int {
	body := records[i:end]
	if w.probes {
		w.put(find(body, KindChecksum))
	}
	if w.attributes {
		w.put(find(body, KindAttributes))
	}
	if !w.nested {
		w.ends = append(w.ends, i)
		return i
	}
	for i < end && records[i].Kind < KindInlined {
		i++
	}
	w.open(records[i:end], end)
	return i
}
