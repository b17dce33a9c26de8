package sampleprof

// A metadataReader decodes the metadata of functions into records: checksums, attributes, and the
// inlined bodies that contain them.
type metadataReader struct {
	bodyReader
	probes     bool
	attributes bool
}

// minMetadata is the minimum size of an inlined function's metadata in bytes, without its checksum
// and attributes.
const minMetadata = 3 // line, discriminator, name

// function reads the metadata of a function. Its records are valid until the next call.
func (m *metadataReader) function() Function {
	f := Function{}
	f.Name, f.Context = m.functionRef()
	m.records, m.open, m.tangled = m.records[:0], m.open[:0], false
	m.begin(-1)
	for len(m.open) > 0 && m.Err == nil {
		if top := &m.open[len(m.open)-1]; top.left > 0 {
			top.left--
			m.inlined()
		} else {
			m.finish()
		}
	}
	f.Records = m.records
	return f
}

// begin reads the metadata of one body, up to its inlined functions. It puts checksum and
// attributes first, which is not canonical order.
func (m *metadataReader) begin(head int) {
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
}

func (m *metadataReader) own(kind Kind, value uint64) {
	if value != 0 {
		m.records = append(m.records, Record{Kind: kind, Count: value})
		m.tangled = true
	}
}

func (m *metadataReader) inlined() {
	r := Record{Kind: KindInlined, Line: m.line(), Discriminator: m.uint32("discriminator"), Name: m.name(m.names)}
	head := len(m.records)
	m.add(&m.open[len(m.open)-1], r)
	m.begin(head)
}

// A metadataWriter encodes the metadata of functions.
type metadataWriter struct {
	bodyWriter
	probes     bool
	attributes bool
	nested     bool // metadata of inlined functions follows; false in a context-sensitive profile
}

// function appends the metadata of a function, for [metadataReader.function] to read.
func (w *metadataWriter) function(f *Function, ref uint32) {
	w.put(uint64(ref))
	i := w.begin(f.Records, 0, len(f.Records))
	for len(w.ends) > 0 {
		end := w.ends[len(w.ends)-1]
		if i < end && f.Records[i].Kind == KindInlined {
			r := &f.Records[i]
			w.location(r)
			w.put(uint64(w.rank[r.Name]))
			i = w.begin(f.Records, i+1, i+1+int(r.Span))
			continue
		}
		i = end
		w.ends = w.ends[:len(w.ends)-1]
	}
}

// begin appends the metadata of one body. It returns the index of the first inlined body.
func (w *metadataWriter) begin(records []Record, i, end int) int {
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
