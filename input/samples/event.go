package samples

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ErrNoEvent: no event of the recording counts execution, or it has no event of the name that
// [Options.Event] gives.
var ErrNoEvent = errors.New("no event of the recording can be used")

// Counts is what the samples of an event count, such as execution.
type Counts int

const (
	// CountsUnknown: the name of the event does not say what it counts.
	CountsUnknown Counts = iota
	// CountsExecution: instructions, branches, cycles or processor time.
	CountsExecution
	// CountsOther: something else, such as page faults, allocations or time spent waiting.
	CountsOther
)

// An EventUse is an event of a recording, and whether its samples were used.
type EventUse struct {
	Name    string `json:"name"`
	Counts  Counts `json:"-"`
	Samples uint64 `json:"samples"`
	Used    bool   `json:"used"` // its samples are in the Set
}

// Words by which countsOf classifies the name of an event. A name that contains one of failures
// does not count execution, one that begins with one of executions does, and one that contains one
// of others does not. They are tried in this order, because others has parts of executions, such as
// lock in clock.
var (
	failures   = []string{"miss", "misp", "mis_pred", "fault", "stall", "idle-", "migration", "cpuhp:", "cpufreq", "off-cpu", "off_cpu", "offcpu", "wall"}
	executions = []string{
		"cycles", "cpu", "on-cpu", "on_cpu", "oncpu", "instr", "task-clock", "inst_retired", "branch-instr", "branches", "br_",
		"branch-brs", "ref-cycles", "bus-cycles", "ex_ret_brn", "ex_ret_instr", "ex_ret_ops", "ex_ret_cops", "ls_not_halted_cyc", "uops_retired",
		"op_retired", "steps", "ibs_op", "ibs_fetch", "process_cpu", "itimer", "ctimer", "slots",
	}
	others = []string{
		"switch", "cache", "tlb", "dummy", "bpf-output", "alloc", "inuse", "lock", "mem-", "mem_", "probe", "page", "syscall",
		"wait", "sleep", "contention", "delay", "block", "mutex", "goroutine", "thread", "heap", "space", "object", "byte", "live", "latency",
		"exception", "refill", "clears", "offcore", "uncore", "real", "time", "breakpoint", "tracepoint",
		"loads", "stores", "prefetch",
	}
)

// countsOf returns what an event counts, judged by the event's name in perf or in a profile.
func countsOf(name string) Counts {
	base := baseEvent(name)
	contains := func(part string) bool { return strings.Contains(base, part) }
	begins := func(part string) bool { return strings.HasPrefix(base, part) }
	switch {
	case slices.ContainsFunc(failures, contains):
		return CountsOther
	case slices.ContainsFunc(executions, begins), base == "branch": // of perf inject --itrace
		return CountsExecution
	case contains(":"), base == "cs", slices.ContainsFunc(others, contains):
		return CountsOther
	}
	if digits, ok := strings.CutPrefix(base, "r"); ok {
		return countsOfRaw(digits)
	}
	_, digits, _ := strings.Cut(base, "=0x")
	return countsOfRaw(digits)
}

// countsOfRaw returns what the raw event of an x86 processor counts, judged by the event's
// hexadecimal number. The numbers listed here mean the same on Intel's and AMD's processors.
func countsOfRaw(digits string) Counts {
	number, length, ok := lines.Number([]byte(digits), 16)
	if length == 0 || !ok {
		return CountsUnknown
	}
	switch number & 0xff {
	case 0x3c, 0x76, 0xc0, 0xc2, 0xc4:
		return CountsExecution
	case 0x08, 0x24, 0x2e, 0x49, 0x85, 0xc3, 0xc5, 0xcd, 0xd0, 0xd1, 0xd2, 0xd3:
		return CountsOther
	}
	return CountsUnknown
}

// baseEvent returns the name of an event in lower case, without its modifiers and the processor's
// monitoring unit: "cycles" for "cpu_core/cycles/ppp" and "cycles:u". Events with the same base
// name count the same on different kinds of cores.
func baseEvent(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if unit, inside, ok := strings.Cut(name, "/"); ok {
		inside, _, _ = strings.Cut(inside, "/")
		name = eventTerm(unit, strings.Split(inside, ","))
	}
	if colon := strings.LastIndexByte(name, ':'); colon > 0 && strings.Trim(name[colon+1:], "ukhgipsdweb") == "" {
		name = name[:colon]
	}
	return name
}

// eventTerm returns the term that identifies the event UNIT/TERM,.../: a name, a number, or the
// first word without a value. Without such a term, the unit is the event, as in
// cpu-clock/freq=999/.
func eventTerm(unit string, terms []string) string {
	if strings.HasPrefix(unit, "ibs_") || strings.HasPrefix(unit, "arm_spe") {
		return unit
	}
	for _, key := range []string{"name=", "event=", "config=", ""} {
		for _, term := range terms {
			if strings.HasPrefix(term, key) && (key != "" || term != "" && !strings.Contains(term, "=")) {
				return strings.Trim(strings.TrimPrefix(term, "name="), "'")
			}
		}
	}
	return unit
}

// countsOfEvent returns what an event of perf.data counts. machine is the processor, on which the
// meaning of raw event numbers depends.
func countsOfEvent(e *perfdata.Event, machine elf.Machine) Counts {
	const cycles, instructions, branches, busCycles, refCycles = 0, 1, 4, 6, 9
	switch e.Type {
	case perfdata.TypeHardware:
		switch uint32(e.Config) {
		case cycles, instructions, branches, busCycles, refCycles:
			return CountsExecution
		}
		return CountsOther
	case perfdata.TypeSoftware:
		const taskClock, dummy = 1, 9
		if e.Config > taskClock && e.Config != dummy || e.Config == dummy && baseEvent(e.Name()) != "steps" {
			return CountsOther
		}
		return CountsExecution
	case perfdata.TypeTracepoint, perfdata.TypeCache, perfdata.TypeBreakpoint:
		return CountsOther
	case perfdata.TypeRaw:
		if machine != elf.EM_X86_64 && machine != elf.EM_386 {
			return countsOf(strings.TrimLeft(e.Name(), "r0123456789abcdef"))
		}
		if counts := countsOfRaw(fmt.Sprintf("%x", e.Config)); counts != CountsUnknown {
			return counts
		}
	}
	return countsOf(e.Name())
}

// eventSamples collects the samples of one event of a recording. Events with the same base name,
// such as the cycles of two kinds of cores, share one eventSamples, unless only some have branch
// stacks.
type eventSamples struct {
	set     *Set
	report  *Report
	links   map[link]uint64 // of branch stacks; added to set at the end
	objects []objectCount   // by number of the mapped file

	used      bool // its samples may be used: see decide
	callStack bool // branch stacks are call stacks
	calls     bool // branch stacks have all calls

	steps bool // the recording was made by steps
	tid   int32
	time  uint64 // of the last sample
	found bool   // the last burst is in the binary
}

type objectCount struct{ samples, branches uint64 }

// newEventSamples returns an eventSamples without samples, for the event with the given name.
func newEventSamples(name string, format Format, o *Options) *eventSamples {
	c := &eventSamples{set: new(Set), report: &Report{Format: format, Event: name, Counts: countsOf(name)}, links: make(map[link]uint64)}
	c.steps = baseEvent(name) == "steps"
	c.decide(o)
	return c
}

// noteBurst counts a burst if the sample s begins one, see [Report.Bursts]. It is for recordings
// that package record has made by steps: a burst is the simulation of one stopped thread. A sample
// begins a new burst if it is of another thread than the sample before, or more than sameBurst
// later. All samples of a burst are written at once, and bursts are at least 100 us apart.
func (c *eventSamples) noteBurst(s *perfdata.Sample) {
	const sameBurst = 50_000 // nanoseconds
	if c.steps && (s.TID != c.tid || s.Time > c.time+sameBurst || s.Time == 0) {
		c.report.Bursts++
		c.found = false
	}
	c.tid, c.time = s.TID, s.Time
}

// noteWithin counts the current sample as a sample in the binary. If it is the first such sample of
// its burst, noteWithin also counts the burst. A burst is the simulation of one stopped thread, in
// a recording made by steps.
func (c *eventSamples) noteWithin() {
	c.report.Within++
	if c.steps && !c.found {
		c.report.BurstsWithin++
	}
	c.found = true
}

// decide sets c.used, which says whether the samples of an event may be used. If the user named an
// event, only that event may be used. Otherwise each event that may count execution may be used.
func (c *eventSamples) decide(o *Options) {
	c.used = c.report.Counts != CountsOther
	if o.Event != "" {
		c.used = isEvent(c.report.Event, o.Event)
	}
}

// isEvent reports whether the event name that a user has asked for is the whole name of an event,
// or its base name.
func isEvent(name, asked string) bool {
	return strings.EqualFold(name, asked) || baseEvent(name) == strings.ToLower(asked)
}

// count returns the numbers of samples and of branches in the mapped file o.
func (c *eventSamples) count(o *object) *objectCount {
	if o.number >= len(c.objects) {
		c.objects = append(c.objects, make([]objectCount, o.number+1-len(c.objects))...)
	}
	return &c.objects[o.number]
}

// samplesOf returns the eventSamples to which the sample s belongs.
func (p *perfCollector) samplesOf(s *perfdata.Sample) *eventSamples {
	if p.events == nil {
		return p.named(s.EventName)
	}
	for all := p.events(); len(p.byEvent) < len(all); {
		p.byEvent = append(p.byEvent, p.described(all[len(p.byEvent)]))
	}
	return p.byEvent[s.Event]
}

// named returns the eventSamples that collects the samples of an event, for the name of the event
// in the text of perf script. Samples without a name are of the event that the user asked for.
func (p *perfCollector) named(name string) *eventSamples {
	c := p.byName[name]
	if c == nil {
		c = p.join(newEventSamples(cmp.Or(name, p.maps.choice.options.Event), PerfScript, &p.maps.choice.options))
		p.byName[name] = c
	}
	return c
}

// described returns the eventSamples that collects the samples of an event, for the description of
// the event in perf.data.
func (p *perfCollector) described(e *perfdata.Event) *eventSamples {
	o := &p.maps.choice.options
	c := newEventSamples(e.Name(), PerfData, o)
	c.report.Counts = countsOfEvent(e, p.maps.choice.binary.machine)
	c.decide(o)
	c.report.Filter, c.calls, c.callStack = e.Filter(), e.HasCalls(), e.CallStack()
	c.report.HasBranches = e.HasBranches() && !c.callStack
	return p.join(c)
}

// join returns the eventSamples that collects the samples of an event. c is a new one for this
// event. If an earlier event has the same base name and the same kind of stacks, join returns the
// eventSamples of that event instead, so that their samples are added up.
func (p *perfCollector) join(c *eventSamples) *eventSamples {
	for _, known := range p.collected {
		a, b := known.report, c.report
		if baseEvent(a.Event) == baseEvent(b.Event) && a.Filter == b.Filter && a.HasBranches == b.HasBranches && known.callStack == c.callStack && known.used == c.used {
			return known
		}
	}
	p.collected = append(p.collected, c)
	return c
}

// better reports whether the samples of one event are preferred to those of another event. The
// criteria, most important first:
//   - some samples are in the binary;
//   - the event is known to count execution;
//   - branch stacks have all kinds of branches;
//   - the event has samples at all.
func (c *eventSamples) better(other *eventSamples) bool {
	rank := func(c *eventSamples) (rank int) {
		for _, is := range []bool{!c.set.Empty() || len(c.links) > 0, c.report.Counts == CountsExecution, c.report.Branches > 0 && c.report.Filter == "", c.report.Samples > 0} {
			rank *= 2
			if is {
				rank++
			}
		}
		return rank
	}
	return rank(c) > rank(other)
}

// finish chooses the event of the recording whose samples are used, and returns its Set and Report.
func (p *perfCollector) finish() (*Set, *Report, error) {
	var best *eventSamples
	for _, c := range p.collected {
		if c.used && (best == nil || c.better(best)) {
			best = c
		}
	}
	if best == nil {
		best = p.eventSamples
		if len(p.collected) > 0 {
			best = p.collected[0]
		}
		best.set = new(Set)
	}
	best.addLinks()
	r := best.report
	for _, o := range p.maps.objects {
		n := best.count(o)
		o.Samples, o.Branches = n.samples, n.branches
		r.addObject(o.Object)
	}
	r.sortObjects()
	r.Lost, r.Effort = p.lost, p.told.Effort
	for _, c := range p.collected {
		if c != best {
			r.Skipped = saturating.Add(r.Skipped, c.report.Samples)
		}
		if c.report.Event != "" {
			r.Events = append(r.Events, EventUse{c.report.Event, c.report.Counts, c.report.Samples, c == best && c.used})
		}
	}
	return best.set, r, p.maps.choice.checkEvent(r, best.used)
}

// checkEvent returns an error that lists the recording's events, unless the chosen event may be
// used.
func (c choice) checkEvent(r *Report, used bool) error {
	if used || len(r.Events) == 0 && c.options.Event == "" {
		return nil
	}
	var has []string
	for _, e := range r.Events {
		has = append(has, fmt.Sprintf("%s (%d samples)", e.Name, e.Samples))
	}
	list := strings.Join(has, ", ")
	switch {
	case len(has) == 0:
		return fmt.Errorf("samples: %w: it names no event, and so not %s", ErrNoEvent, c.options.Event)
	case c.options.Event != "":
		return fmt.Errorf("samples: %w: it has no %s, but %s", ErrNoEvent, c.options.Event, list)
	}
	return fmt.Errorf("samples: %w: none counts execution; it has %s; record cycles, branches or cpu-clock, or use one of these anyway with --event", ErrNoEvent, list)
}
