package samples_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A naive collector is a simple implementation of Read for perf.data, with which Read is compared.
// It keeps a list of all mappings of each process, and searches the list from its end.
type naive struct {
	set    *samples.Set
	maps   map[int32][]perfdata.Mmap
	all    uint64
	bogus  uint64
	events []perfgen.Event
}

// at returns the mapping of a process that contains an address.
func (n *naive) at(pid int32, address uint64) *perfdata.Mmap {
	for _, space := range []int32{pid, perfdata.UnknownPID} {
		list := n.maps[space]
		for i := len(list) - 1; i >= 0; i-- {
			if m := &list[i]; address >= m.Start && address-m.Start < m.Length {
				return m
			}
		}
	}
	return nil
}

// ours returns the file offset in the binary of an address of a process, and the mapping that
// contains the address.
func (n *naive) ours(pid int32, address uint64) (uint64, *perfdata.Mmap) {
	m := n.at(pid, address)
	if m == nil || !m.Executable || path.Base(m.Path) != "ours" {
		return 0, nil
	}
	return address - m.Start + m.PageOffset, m
}

func (n *naive) take(record perfdata.Record) {
	switch r := record.(type) {
	case *perfdata.Mmap:
		n.maps[r.PID] = append(n.maps[r.PID], *r)
	case *perfdata.Comm:
		if r.Exec {
			n.maps[r.PID] = nil
		}
	case *perfdata.Fork:
		if r.PID != r.ParentPID {
			n.maps[r.PID] = append([]perfdata.Mmap(nil), n.maps[r.ParentPID]...)
		}
	case *perfdata.Sample:
		n.sample(r)
	}
}

func (n *naive) sample(s *perfdata.Sample) {
	for i, e := range n.events {
		if e.SampleType&perfgen.BranchStack != 0 && n.events[s.Event].SampleType&perfgen.BranchStack == 0 && i != s.Event {
			return
		}
	}
	n.all++
	if offset, m := n.ours(s.PID, s.IP); m != nil {
		n.set.Addresses.Add(offset, 1)
		n.set.AddTime(offset, s.Time)
	}
	last := -1 // the index of the entry that was kept last
	for i, b := range s.Branches {
		if b.Flags.WrongPath() {
			continue
		}
		newer := last
		last = i
		from, inFrom := n.ours(s.PID, b.From)
		to, inTo := n.ours(s.PID, b.To)
		if inTo == nil {
			continue
		}
		if newer < 0 {
			if inFrom != nil {
				n.set.Branches.Add(samples.Branch{From: from, To: to}, 1)
			}
			continue
		}
		if top := s.Branches[0]; i == 1 && b.From == top.From && b.To == top.To && b.From-b.To > 0x1000 {
			continue
		}
		end, inEnd := n.ours(s.PID, s.Branches[newer].From)
		if inEnd == nil || inEnd.PageOffset-inEnd.Start != inTo.PageOffset-inTo.Start {
			continue
		}
		if end < to || end-to > 1<<20 {
			n.bogus++
			continue
		}
		n.set.Ranges.Add(samples.Range{Begin: to, End: end}, 1)
		n.set.AddTime(to, s.Time)
		if inFrom != nil {
			n.set.Branches.Add(samples.Branch{From: from, To: to}, 1)
		}
	}
}

// plain returns a Binary without a build ID.
func plain(t testing.TB, name string, kind elf.Type) *samples.Binary {
	t.Helper()
	f := &elf.File{FileHeader: elf.FileHeader{Type: kind}, Progs: []*elf.Prog{load(0, 0, 1<<30)}}
	b, err := samples.NewBinary(f, name)
	require.NoError(t, err)
	return b
}

// Read agrees with the naive collector on random recordings of processes that map files, fork and
// execute programs, with one or several events, in every kind of perf.data.
func TestRandomRecordings(t *testing.T) {
	layouts := perfgen.Layouts()
	layouts[0].SampleType |= perfgen.Identifier
	layouts[0].IDs = []uint64{77}
	for seed := range uint64(testenv.Rounds(4, 240)) {
		events := layouts[seed%4:][:1]
		if seed%4 == 0 {
			events = []perfgen.Event{layouts[0], layouts[3]}
		}
		scene := perfgen.NewScene(seed, events, "/home/me/ours", "/lib/other.so", "/lib/ours", "/elsewhere/ours.so")
		records := scene.Records(1000)
		want := naive{set: new(samples.Set), maps: make(map[int32][]perfdata.Mmap), events: events}
		for _, r := range records {
			want.take(r)
		}
		require.Greater(t, want.set.Addresses.Len(), 20)
		disorder := scene.Disorder(records)
		for _, kind := range []int{int(seed % 12), int((seed + seed/12 + 5) % 12)} {
			f := perfgen.File{
				Big: kind&1 != 0, Pipe: kind&2 != 0, Compression: perfgen.Compression(kind / 4),
				Events: events, Records: disorder,
			}
			s, r, err := samples.Read(bytes.NewReader(f.Bytes()), plain(t, "build/ours", elf.ET_DYN), samples.Options{})
			require.NoError(t, err)
			name := fmt.Sprintf("seed %d, kind %d", seed, kind)
			require.Equal(t, text(t, want.set), text(t, s), name)
			require.Equal(t, want.set.Times, s.Times, name)
			require.Equal(t, []uint64{want.all, want.bogus}, []uint64{r.Samples, r.Bogus}, name)
		}
	}
}
