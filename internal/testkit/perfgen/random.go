package perfgen

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// Full is a sample type with all fields.
const Full = Identifier | IP | TID | Time | Addr | ID | StreamID | CPU | Period | Read | Callchain | Raw | BranchStack

// Layouts returns events with different sample layouts, from that of a plain recording to one with
// all fields.
func Layouts() []Event {
	return []Event{
		{SampleType: IP | TID | Time, SampleIDAll: true},
		{SampleType: IP | TID | Time | ID | CPU | Period | BranchStack, SampleIDAll: true, IDs: []uint64{7, 8}},
		{SampleType: Full &^ Read, BranchType: HWIndex, SampleIDAll: true, IDs: []uint64{1 << 40}},
		{SampleType: Full, BranchType: HWIndex, ReadFormat: 31, SampleIDAll: true, IDs: []uint64{9}},
		{SampleType: Full, ReadFormat: 7, IDs: []uint64{9}},
		{SampleType: Full, ReadFormat: 23, SampleIDAll: true},
	}
}

// A Scene generates random records for a recording, such as samples and mappings. They are about a
// few processes into which a few files are mapped.
type Scene struct {
	Random *rand.Rand
	Events []Event
	Paths  []string // the first one is that of the binary
	time   uint64
	pids   []int32
}

// NewScene returns a scene for a seed. Scenes with the same arguments generate the same records.
// paths are the files that the processes map, the first one is the profiled binary.
func NewScene(seed uint64, events []Event, paths ...string) *Scene {
	return &Scene{Random: rand.New(rand.NewPCG(seed, seed)), Events: events, Paths: paths, time: 1000, pids: []int32{100}}
}

// Records returns n records in chronological order.
func (s *Scene) Records(n int) []perfdata.Record {
	var list []perfdata.Record
	for len(list) < n {
		s.time += 1 + s.Random.Uint64N(5)
		pid := s.pids[s.Random.IntN(len(s.pids))]
		switch k := s.Random.IntN(40); {
		case k < 6:
			list = append(list, s.mmap(pid))
		case k == 6 && len(s.pids) < 20:
			child := s.pids[len(s.pids)-1] + 1
			s.pids = append(s.pids, child)
			list = append(list, &perfdata.Fork{PID: child, TID: child, ParentPID: pid, ParentTID: pid, Time: s.time})
		case k == 7:
			list = append(list, &perfdata.Fork{PID: pid, TID: pid + 1000, ParentPID: pid, ParentTID: pid, Time: s.time})
		case k == 8:
			list = append(list, &perfdata.Comm{PID: pid, TID: pid, Exec: s.Random.IntN(3) == 0, Name: "name", Time: s.time})
		case k == 9:
			list = append(list, &perfdata.Exit{PID: pid, TID: pid + 1000, Time: s.time})
		default:
			list = append(list, s.sample(pid))
		}
	}
	return list
}

// Random mappings begin at few different addresses, so that many of them overlap.
const (
	placeSize = 0x10000
	numPlaces = 6
	firstAt   = 0x400000
)

func (s *Scene) mmap(pid int32) *perfdata.Mmap {
	m := &perfdata.Mmap{
		PID: pid, TID: pid, Time: s.time,
		Start:      firstAt + s.Random.Uint64N(numPlaces*2)*placeSize/2,
		Length:     (1 + s.Random.Uint64N(3)) * placeSize / 2,
		PageOffset: s.Random.Uint64N(4) * 0x1000,
		Executable: s.Random.IntN(8) > 0,
		Path:       s.Paths[s.Random.IntN(len(s.Paths))],
	}
	if s.Random.IntN(12) == 0 {
		m.PID, m.TID, m.Start = perfdata.UnknownPID, 0, m.Start+0xffffffff80000000
		m.Path, m.Executable = fmt.Sprintf("[kernel.kallsyms]_text%d", m.Start), true
	}
	return m
}

func (s *Scene) address() uint64 {
	a := firstAt + s.Random.Uint64N(numPlaces*placeSize)
	if s.Random.IntN(16) == 0 {
		a += 0xffffffff80000000
	}
	return a
}

func (s *Scene) sample(pid int32) *perfdata.Sample {
	event := s.Random.IntN(len(s.Events))
	t := s.Events[event].SampleType
	r := &perfdata.Sample{Event: event, Mode: perfdata.ModeUser, PID: perfdata.UnknownPID, TID: perfdata.UnknownPID}
	if t&IP != 0 {
		r.IP = s.address()
	}
	if t&TID != 0 {
		r.PID, r.TID = pid, pid
	}
	if t&Time != 0 {
		r.Time = s.time
	}
	if t&Addr != 0 {
		r.Addr = s.Random.Uint64()
	}
	if t&Period != 0 {
		r.Period = s.Random.Uint64N(1000)
	}
	if t&Callchain != 0 {
		for range s.Random.IntN(4) {
			r.Stack = append(r.Stack, s.address())
		}
	}
	if t&Raw != 0 {
		r.Raw = make([]byte, 4+8*s.Random.IntN(3))
	}
	if t&BranchStack != 0 {
		r.Branches = s.branches()
	}
	return r
}

// branches returns a branch stack in which most branches start after the target of the previous
// one.
func (s *Scene) branches() []perfdata.Branch {
	n := s.Random.IntN(33)
	list := make([]perfdata.Branch, n)
	at := s.address()
	for i := n - 1; i >= 0; i-- {
		from := at + s.Random.Uint64N(64)
		at = from - s.Random.Uint64N(0x2000) + 0x1000
		switch s.Random.IntN(12) {
		case 0:
			at = s.address()
		case 1:
			from = s.address()
		}
		list[i] = perfdata.Branch{From: from, To: at, Flags: s.flags()}
	}
	if n > 1 && s.Random.IntN(4) == 0 {
		list[1] = list[0]
	}
	return list
}

func (s *Scene) flags() perfdata.BranchFlags {
	f := s.Random.Uint64N(1<<20) | s.Random.Uint64N(16)<<20
	if s.Random.IntN(8) == 0 {
		f |= 1 << 24
	} else if s.Random.IntN(4) == 0 {
		f |= 2 << 24
	}
	return perfdata.BranchFlags(f)
}

// Disorder changes the order of records to one that several processors could have caused. It
// divides the records into rounds, mixes those of a round, and delays some of them by one round. It
// adds the record that ends a round after each round.
func (s *Scene) Disorder(records []perfdata.Record) []any {
	var out []any
	var late []any
	for len(records) > 0 {
		n := min(1+s.Random.IntN(60), len(records))
		round := late
		late = nil
		for _, r := range records[:n] {
			if s.Random.IntN(5) == 0 {
				late = append(late, r)
			} else {
				round = append(round, r)
			}
		}
		records = records[n:]
		s.Random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		out = append(append(out, round...), Round{})
	}
	return append(out, late...)
}
