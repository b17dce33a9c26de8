package perfdata

import (
	"cmp"
	"fmt"
	"strings"

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

// Values of Event.Type, in linux/perf_event.h PERF_TYPE_*. Greater values identify the processor's
// monitoring units, and differ from machine to machine.
const (
	TypeHardware   = 0
	TypeSoftware   = 1
	TypeTracepoint = 2
	TypeCache      = 3
	TypeRaw        = 4
	TypeBreakpoint = 5
)

// Names that perf has for hardware and software events, by Event.Config.
var (
	hardwareNames = [...]string{
		"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	}
	softwareNames = [...]string{
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", softwareDummy: "dummy", 10: "bpf-output", 11: "cgroup-switches",
	}
)

const softwareDummy = 9

// Name returns the name of the event: as the recording has it, else as perf calls it.
func (e *Event) Name() string {
	if e.name != "" {
		return e.name
	}
	config := uint64(uint32(e.Config)) // the upper half selects one of several kinds of cores
	switch {
	case e.Type == TypeHardware && config < uint64(len(hardwareNames)):
		return hardwareNames[config]
	case e.Type == TypeSoftware && config == softwareDummy && e.HasBranches():
		return "steps:u" // of afdo record, whose streams have no names
	case e.Type == TypeSoftware && config < uint64(len(softwareNames)):
		return softwareNames[config]
	case e.Type == TypeTracepoint:
		return fmt.Sprintf("tracepoint %d", e.Config)
	case e.Type == TypeCache:
		return fmt.Sprintf("cache event %#x", e.Config)
	case e.Type == TypeRaw:
		return fmt.Sprintf("r%x", e.Config)
	case e.Type == TypeBreakpoint:
		return "breakpoint"
	}
	return fmt.Sprintf("event %#x of unit %d", e.Config, e.Type)
}

// readNames reads the names of the events from the header of file mode, if the header has them.
func (r *Reader) readNames(f recordingFile, h fileHeader) error {
	const what = "the descriptions of the events"
	p, found, err := f.feature(h, featureEvents, what)
	if !found || err != nil || f.check(p, what) != nil {
		return nil // nothing but names depends on them
	}
	data, err := f.read(p, what)
	if err == nil {
		r.nameEvents(data)
	}
	return err
}

// addFeature reads a record that, in pipe mode, contains an optional section of perf.data. It uses
// only the section with the names of the events.
func (r *Reader) addFeature(raw rawRecord) {
	c := newCursor(raw.data, r.big)
	if c.Uint64(field) == featureEvents {
		r.nameEvents(c.left())
	}
}

// nameEvents reads a table of events: their number and the size of an attribute, then of each event
// the attribute, the number of IDs, the name, and the IDs. A damaged table gives no names.
func (r *Reader) nameEvents(data []byte) {
	c := newCursor(data, r.big)
	n, size := c.Uint32(field), c.Uint32(field)
	for i := range n {
		c.Take(uint64(size), field)
		ids := c.Uint32(field)
		name := cString(c.Take(uint64(c.Uint32(field)), field))
		known := c.left()
		c.Take(8*uint64(ids), field)
		if c.Err != nil {
			return
		}
		index := int(i)
		if ids > 0 {
			first := newCursor(known, r.big)
			if at, ok := r.table.byID[first.Uint64(field)]; ok {
				index = at
			}
		}
		if index < len(r.table.events) {
			r.table.events[index].name = name
		}
	}
}

// updateEvent stores the name of an event. In pipe mode, perf.data has a record for the name of
// each event.
func (r *Reader) updateEvent(raw rawRecord) {
	const isName = 2
	c := newCursor(raw.data, r.big)
	kind, id := c.Uint64(field), c.Uint64(field)
	if i, ok := r.table.byID[id]; ok && kind == isName && c.Err == nil {
		r.table.events[i].name = cString(c.left())
	}
}

// Bits of branch_sample_type, in linux/perf_event.h PERF_SAMPLE_BRANCH_*.
const (
	branchAny       = 1 << 3
	branchCallStack = 1 << 11
)

// branchFilters lists the filters of perf record -j with their bits in branch_sample_type. Most
// select a kind of branch. Those with transaction select branches of all kinds, inside or outside
// of memory transactions.
var branchFilters = []struct {
	bit         uint64
	name        string
	transaction bool
}{
	{1 << 4, "any_call", false}, {1 << 5, "any_ret", false}, {1 << 6, "ind_call", false}, {1 << 10, "cond", false},
	{1 << 12, "ind_jmp", false}, {1 << 13, "call", false}, {1 << 7, "abort_tx", true}, {1 << 8, "in_tx", true}, {1 << 9, "no_tx", true},
}

// HasBranches reports whether samples of the event have a branch stack, or a call stack that is
// stored like one.
func (e *Event) HasBranches() bool { return e.sampleType&sampleBranchStack != 0 }

// CallStack reports whether the branch stacks of samples are call stacks, as with perf record
// --call-graph lbr: an entry for each call that has not returned.
func (e *Event) CallStack() bool { return e.HasBranches() && e.branchSampleType&branchCallStack != 0 }

// Filter returns the kinds of branches that branch stacks are limited to, as perf record -j calls
// them, such as "any_call,ind_jmp". It returns "" if stacks have all branches, or are call stacks.
func (e *Event) Filter() string {
	if !e.HasBranches() || e.CallStack() {
		return ""
	}
	var names []string
	for _, f := range branchFilters {
		if e.branchSampleType&f.bit != 0 && (f.transaction || e.branchSampleType&branchAny == 0) {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ",")
}

// HasCalls reports whether the branch stacks of the event contain every call, because their filter
// selects all branches or all calls.
func (e *Event) HasCalls() bool {
	filter := strings.Split(e.Filter(), ",")
	return filter[0] == "" || filter[0] == "any_call" && !strings.HasSuffix(filter[len(filter)-1], "_tx")
}
