package memprof

import (
	"slices"
)

const (
	version2 = 2
	version3 = 3
	version4 = 4
)

// versions lists the versions of the section that this package reads and writes.
var versions = []uint64{version2, version3, version4}

// A header is the decoded header of a section. Its offsets are file offsets.
type header struct {
	version uint64

	recordPayload, recordTable uint64 // in version 2 the payload follows the header and its offset is not stored
	framePayload, frameTable   uint64 // version 2 only
	stackPayload, stackTable   uint64 // version 2 only
	stacks                     uint64 // versions 3 and 4; the frames lie between the header and the stacks
	access                     uint64 // version 4 only; 0 if there is no data access profile

	summary *Summary // version 4 only
	schema  Schema
}

// fields returns pointers to the offsets of the header, in the order in which the section stores
// them.
func (h *header) fields() []*uint64 {
	switch h.version {
	case version2:
		return []*uint64{&h.recordTable, &h.framePayload, &h.frameTable, &h.stackPayload, &h.stackTable}
	case version3:
		return []*uint64{&h.stacks, &h.recordPayload, &h.recordTable}
	default:
		return []*uint64{&h.stacks, &h.recordPayload, &h.recordTable, &h.access}
	}
}

func (d *decoder) header() (header, error) {
	h := header{version: d.Uint64("version")}
	if d.Err == nil && !slices.Contains(versions, h.version) {
		return h, versionError(h.version, versions)
	}
	for _, field := range h.fields() {
		*field = d.Uint64("offset")
	}
	if h.version >= version4 {
		h.summary = d.summary()
	}
	h.schema = d.schema()
	return h, d.err()
}

// header appends the header h. The caller appends it twice: first to reserve its bytes, and again
// in their place when the offsets are known.
func (e *encoder) header(h *header) {
	e.u64(h.version)
	for _, field := range h.fields() {
		e.u64(*field)
	}
	if h.version >= version4 {
		e.summary(h.summary)
	}
	e.schema(h.schema)
}

func (d *decoder) schema() Schema {
	d.Part = partSchema
	at := d.Pos
	s := make(Schema, 0, 4)
	for range d.count("fields", 8) {
		tagAt := d.Pos
		tag := d.Uint64("field")
		f := Field(min(tag, 0xff))
		if d.Err == nil && !f.known() {
			d.Fail(tagAt, errSchema, "field %d is not known, nor is its size", tag)
		}
		if d.Err == nil && s.has(f) {
			d.Fail(tagAt, errSchema, "duplicate field %s", f)
		}
		if d.Err != nil {
			return nil
		}
		s = append(s, f)
	}
	if d.Err == nil && len(s) == 0 {
		d.Fail(at, errSchema, "there are no fields")
	}
	return s
}

func (e *encoder) schema(s Schema) {
	e.u64(uint64(len(s)))
	for _, f := range s {
		e.u64(uint64(f))
	}
}
