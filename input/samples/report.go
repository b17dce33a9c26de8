package samples

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Report describes how the samples of a recording were used: how many were in the binary, and why
// others were not used.
type Report struct {
	Format   Format
	Samples  uint64 // samples of the chosen event and process; instructions that ran, of callgrind
	InBinary uint64 // those of Samples whose address is in the binary
	Within   uint64 // those of Samples with an address or a branch in the binary, of recordings of perf
	Outside  uint64 // those of InBinary that are left out, because the file has no code at their address
	Stacks   uint64 // those of Samples that have a branch stack
	Branches uint64 // entries of these stacks
	Chains   uint64 // those of Samples that have a call stack of more than the address
	Lost     uint64 // records that perf's buffers had no room for
	Bogus    uint64 // ranges that end before they begin or are too long to be straight-line code
	Damaged  uint64 // samples of Arm's SPE that make no sense, and are left out
	Skipped  uint64 // samples of other events than the one that counts
	Objects  []Object

	// Event is the name of the event whose samples were used, or the type of values of a profile.
	// It is "" if the recording does not name one. Events lists all events of the recording.
	Event  string
	Counts Counts // what it counts
	Events []EventUse

	// HasBranches: samples of the event can have branch stacks. Filter has the kinds of branches in
	// these stacks, as perf record -j calls them, or is "" if all kinds are recorded. With a
	// filter, the code between two branches is unknown, so a profile is made of addresses instead.
	HasBranches bool
	Filter      string
	AtBranch    uint64 // samples with such a filter that were taken at the source or target of their newest branch

	// Bursts is the number of bursts in a recording by steps, in each of which the recorder stopped
	// a thread and followed it. BurstsWithin is the number of bursts with samples in the binary.
	// Effort has the statistics of the recorder; it is zero if the recorder was killed, or too old
	// to write them.
	Bursts, BurstsWithin uint64
	Effort               Effort

	// Guessed is set if the base of an unsymbolized profile of llvm-profgen is uncertain: its
	// ranges fit addresses counted from the first segment, from the first segment of code, or from
	// 0.
	Guessed bool

	// Flattened is set if an unsymbolized profile of llvm-profgen had separate counts for each
	// calling context. The counts of all contexts were added up.
	Flattened bool

	trace     perfdata.Trace // kind of processor trace in perf.data
	addressed bool           // samples of perf have an address, a call chain or branches
}

// An Object is a mapped file, or other memory with code such as the kernel, and its number of
// samples.
type Object struct {
	Name     string `json:"name"`
	BuildID  string `json:"build_id,omitempty"` // "" if not known
	Samples  uint64 `json:"samples"`
	Branches uint64 `json:"-"` // targets of branches in branch stacks, of recordings of perf
	Ours     bool   `json:"-"` // it was taken for the binary
}

// An Effort has the statistics of a recording made by steps, such as the number of bursts. The
// recorder writes them into the recording as JSON.
type Effort struct {
	Moments   uint64 `json:"moments"`   // moments at which a thread of the program ran
	Missed    uint64 `json:"missed"`    // those at which it was not stopped: it waited or moved, ended, or must not be stopped
	Unsampled uint64 `json:"unsampled"` // those of Missed of threads that have no sample at all
	Stops     uint64 `json:"stops"`     // times that a thread was stopped
	Dropped   uint64 `json:"dropped"`   // those of Stops that gave no sample
	Wanted    uint64 `json:"wanted"`    // instructions that bursts were to simulate, up to system calls
	Simulated uint64 `json:"simulated"` // those that they have simulated
	Threads   uint64 `json:"threads"`   // threads that ran, however short
	Sampled   uint64 `json:"sampled"`   // those that have a sample
	Budget    uint64 `json:"budget"`    // time for which threads might have been stopped, in nanoseconds
	Stopped   uint64 `json:"stopped"`   // time for which they were stopped, in nanoseconds
}

// counts returns pointers to all numbers of a report, in a fixed order, for adding up two reports.
func (r *Report) counts() []*uint64 {
	e := &r.Effort
	return []*uint64{
		&r.Samples, &r.InBinary, &r.Within, &r.Outside, &r.Stacks, &r.Branches, &r.Chains, &r.Lost, &r.Bogus, &r.Damaged, &r.Skipped, &r.AtBranch, &r.Bursts, &r.BurstsWithin,
		&e.Moments, &e.Missed, &e.Unsampled, &e.Stops, &e.Dropped, &e.Wanted, &e.Simulated, &e.Threads, &e.Sampled, &e.Budget, &e.Stopped,
	}
}

// Add adds the numbers of another report to this report.
func (r *Report) Add(other *Report) {
	if r.Format == Unknown {
		r.Format = other.Format
	}
	more := other.counts()
	for i, n := range r.counts() {
		*n = saturating.Add(*n, *more[i])
	}
	r.trace = max(r.trace, other.trace)
	r.Guessed = r.Guessed || other.Guessed
	r.Flattened = r.Flattened || other.Flattened
	if r.Event == "" {
		r.Event, r.Counts = other.Event, other.Counts
	}
	r.Filter = cmp.Or(r.Filter, other.Filter)
	r.HasBranches = r.HasBranches || other.HasBranches
	r.Events = append(r.Events, other.Events...)
	r.Objects = append(r.Objects, other.Objects...)
	r.sortObjects()
}

// addObject adds a mapped file with its numbers of samples and branches to the report, unless both
// are 0.
func (r *Report) addObject(o Object) {
	if o.Samples > 0 || o.Branches > 0 {
		r.Objects = append(r.Objects, o)
	}
}

// sortObjects sorts the mapped files of the report by samples, the most first. It adds up the
// samples of files that are listed twice.
func (r *Report) sortObjects() {
	sums := make(map[Object]Object) // the keys have no counts
	for _, o := range r.Objects {
		k := Object{Name: o.Name, BuildID: o.BuildID, Ours: o.Ours}
		o.Samples = saturating.Add(o.Samples, sums[k].Samples)
		o.Branches = saturating.Add(o.Branches, sums[k].Branches)
		sums[k] = o
	}
	r.Objects = slices.AppendSeq(r.Objects[:0], maps.Values(sums))
	slices.SortFunc(r.Objects, func(a, b Object) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name), cmp.Compare(a.BuildID, b.BuildID))
	})
}

// TraceHint returns advice on how to convert a processor trace in the recording, such as Intel PT,
// to samples. It returns "" if the recording has no trace.
func (r *Report) TraceHint() string {
	switch r.trace {
	case perfdata.NoTrace:
		return ""
	case perfdata.ArmSPE:
		return "it has " + r.trace.String() + ", which perf makes text of: " + speCommand
	case perfdata.CoreSightETM:
		return "it has " + r.trace.String() + ", which perf makes samples of: perf inject --itrace=i1000il64 --strip -i IN -o OUT; or, on Android, simpleperf inject -i IN -o OUT"
	}
	return "it has " + r.trace.String() + ", which perf makes samples of: perf inject --itrace=i1000il64 --strip -i IN -o OUT"
}

// A NoSamplesError reports that a recording has no samples of the binary. Its Report lists the
// files of which the recording has samples. It matches afdo.ErrNotFound.
type NoSamplesError struct {
	Binary  string // path
	BuildID string // "" if it has none
	Report  *Report
	Hint    string // what to do, "" if that is not known
}

func (e *NoSamplesError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v has no samples for %s", e.Report.Format, e.Binary)
	if e.BuildID != "" {
		fmt.Fprintf(&text, " (build id %s)", e.BuildID)
	}
	const listed = 5
	var others []string
	for _, o := range e.Report.Objects[:min(len(e.Report.Objects), listed)] {
		other := fmt.Sprintf("%d of %s", o.Samples, o.Name)
		if o.BuildID != "" {
			other += fmt.Sprintf(" (build id %s)", o.BuildID)
		}
		others = append(others, other)
	}
	if len(others) > 0 {
		fmt.Fprintf(&text, "; it has %s", strings.Join(others, ", "))
	}
	if more := len(e.Report.Objects) - listed; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	if e.Hint != "" {
		fmt.Fprintf(&text, "; %s", e.Hint)
	}
	return text.String()
}

// Is reports whether target is afdo.ErrNotFound.
func (e *NoSamplesError) Is(target error) bool { return target == fault.ErrNotFound }
