package perfdata

import (
	"fmt"
	"strings"
)

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
