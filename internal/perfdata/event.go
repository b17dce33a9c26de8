package perfdata

import (
	"cmp"

	"github.com/go-afdo/afdo/internal/fault"
)

// Bits of perf_event_attr.sample_type, in linux/perf_event.h PERF_SAMPLE_*.
const (
	sampleIP          = 1 << 0
	sampleTID         = 1 << 1
	sampleTime        = 1 << 2
	sampleAddr        = 1 << 3
	sampleRead        = 1 << 4
	sampleCallchain   = 1 << 5
	sampleID          = 1 << 6
	sampleCPU         = 1 << 7
	samplePeriod      = 1 << 8
	sampleStreamID    = 1 << 9
	sampleRaw         = 1 << 10
	sampleBranchStack = 1 << 11
	sampleIdentifier  = 1 << 16
)

// Bits of perf_event_attr.read_format.
const (
	readEnabled = 1 << 0
	readRunning = 1 << 1
	readID      = 1 << 2
	readGroup   = 1 << 3
	readLost    = 1 << 4
)

// Bits of perf_event_attr's flags and of branch_sample_type.
const (
	flagSampleIDAll  = 1 << 18
	branchHWIndex    = 1 << 17
	minAttr          = 64 // size of the first version of perf_event_attr, in bytes
	attrBranchOffset = 72 // offset of branch_sample_type, which exists since Linux 3.4
)

// attrFields lists the widths of the flags in perf_event_attr: precise_ip has two bits, all others
// have one.
var attrFields = []uint8{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// An Event is one of the events that perf record counted, such as cycles, and whose samples are in
// the recording.
type Event struct {
	Type, Config uint64 // identify the event, as in perf_event_attr
	IDs          []uint64

	name             string // from the recording; "" if it has none
	sampleType       uint64
	readFormat       uint64
	branchSampleType uint64
	sampleIDAll      bool
}

// parseAttr reads a perf_event_attr. It moves the cursor from its start to its end.
func parseAttr(c *cursor) *Event {
	start, whole := c.Pos, c.left()
	e := &Event{Type: uint64(c.Uint32(field))}
	size := int(c.Uint32(field))
	size = cmp.Or(size, minAttr)
	e.Config = c.Uint64(field)
	c.Uint64(field) // period or frequency
	e.sampleType = c.Uint64(field)
	e.readFormat = c.Uint64(field)
	flags := c.flags(attrFields)
	e.sampleIDAll = flags&flagSampleIDAll != 0
	if c.Err != nil || size < minAttr || size > len(whole) {
		c.Fail(c.Pos, fault.ErrCount, field)
		return e
	}
	if size >= attrBranchOffset+8 {
		b := newCursor(whole[attrBranchOffset:], c.Big)
		e.branchSampleType = b.Uint64(field)
	}
	c.Pos = start + size
	return e
}

// The order of 8-byte fields: sampleFields at the beginning of samples, up to the first field of
// variable size, and trailerFields from the end of other records backwards.
var (
	sampleFields  = []uint64{sampleIdentifier, sampleIP, sampleTID, sampleTime, sampleAddr, sampleID}
	trailerFields = []uint64{sampleIdentifier, sampleCPU, sampleStreamID, sampleID, sampleTime, sampleTID}
)

// before adds up the sizes of the fields that the records of an event have before a certain field.
// order lists all possible fields in their order in a record, and the event has only some of them.
// ok reports whether the event's records have the field.
func (e *Event) before(order []uint64, field uint64) (size int, ok bool) {
	for _, f := range order {
		if f == field {
			return size, e.sampleType&f != 0
		}
		if e.sampleType&f != 0 {
			size += 8
		}
	}
	return 0, false
}

// offset returns where a field begins in the samples of the event. ok is false if they do not have
// the field. The field must be one of sampleFields.
func (e *Event) offset(field uint64) (int, bool) { return e.before(sampleFields, field) }

// trailer returns where a field begins in records of the event that are not samples, as a distance
// from the end of the record. These records have the time, the thread and the event ID at their
// end, see trailerFields. ok reports whether the records have the field.
func (e *Event) trailer(field uint64) (int, bool) {
	after, ok := e.before(trailerFields, field)
	return after + 8, ok && e.sampleIDAll
}

// An eventTable finds the event to which a record belongs. A recording may have several events with
// different fields, so the event is needed to decode the record.
type eventTable struct {
	events []*Event
	byID   map[uint64]int // index in events by ID
	alike  bool           // all events have the same layout of records, which can be decoded without knowing their event
	// Position of the event ID: its offset in samples, and its distance from the end of other
	// records; -1 if they have none.
	inSample, inTrailer int
}

// add adds an event to the table. The events must be added in the order in which the file has them.
func (t *eventTable) add(e *Event) {
	if t.byID == nil {
		t.byID = make(map[uint64]int)
	}
	t.events = append(t.events, e)
	for _, id := range e.IDs {
		t.byID[id] = len(t.events) - 1
	}
	first := t.events[0]
	field := uint64(sampleID)
	if first.sampleType&sampleIdentifier != 0 {
		field = sampleIdentifier
	}
	at, before := -1, -1
	if n, ok := e.offset(field); ok {
		at = n
	}
	if n, ok := e.trailer(field); ok {
		before = n
	}
	if e == first {
		t.inSample, t.inTrailer, t.alike = at, before, true
		return
	}
	if at != t.inSample {
		t.inSample = -1
	}
	if before != t.inTrailer {
		t.inTrailer = -1
	}
	t.alike = t.alike && e.sampleType == first.sampleType && e.readFormat == first.readFormat &&
		e.branchSampleType == first.branchSampleType && e.sampleIDAll == first.sampleIDAll
}

// ofSample returns the index of the event to which a sample belongs, or -1 if the sample does not
// show it. data is the content of the sample.
func (t *eventTable) ofSample(data []byte, big bool) int {
	if len(t.events) == 1 {
		return 0
	}
	if t.inSample >= 0 && t.inSample+8 <= len(data) {
		c := newCursor(data[t.inSample:], big)
		if i, ok := t.byID[c.Uint64(field)]; ok {
			return i
		}
	}
	if t.alike && len(t.events) > 0 {
		return 0
	}
	return -1
}

// ofOther returns the event of a record that is not a sample, which determines the fields at the
// end of the record. If the record does not contain the ID of its event, ofOther returns the first
// event. It returns nil if there are no events.
func (t *eventTable) ofOther(data []byte, big bool) *Event {
	if len(t.events) > 1 && !t.alike && t.inTrailer > 0 && t.inTrailer <= len(data) {
		c := newCursor(data[len(data)-t.inTrailer:], big)
		if i, ok := t.byID[c.Uint64(field)]; ok {
			return t.events[i]
		}
	}
	if len(t.events) == 0 {
		return nil
	}
	return t.events[0]
}
