package perfdata_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// variants calls use with a recording of each kind of file: both modes, both byte orders,
// compressed or not.
func variants(f perfgen.File, use func(name string, f *perfgen.File)) {
	for _, big := range []bool{false, true} {
		for _, pipe := range []bool{false, true} {
			for compression := range perfgen.Padded + 1 {
				f := f
				f.Big, f.Pipe, f.Compression = big, pipe, compression
				use(fmt.Sprintf("big=%v,pipe=%v,compression=%d", big, pipe, compression), &f)
			}
		}
	}
}

// normal returns copies of records without the fields that samples of event e do not have, so that
// they can be compared with records that were read.
func normal(list []perfdata.Record, e perfgen.Event) []perfdata.Record {
	for _, r := range list {
		switch r := r.(type) {
		case *perfdata.Sample:
			if len(r.Raw) == 0 {
				r.Raw = nil
			}
			if len(r.Stack) == 0 {
				r.Stack = nil
			}
			if len(r.Branches) == 0 {
				r.Branches = nil
			}
		case *perfdata.Mmap:
			if !e.SampleIDAll {
				r.Time = 0
			}
		case *perfdata.Comm:
			if !e.SampleIDAll {
				r.Time = 0
			}
		}
	}
	return list
}

// Reading a written recording gives the same records, for each layout of samples, kind of file and
// byte order.
func TestEveryLayoutAndKindOfFile(t *testing.T) {
	for i, event := range perfgen.Layouts() {
		if i%5 != 0 && !testenv.Sweep() {
			continue
		}
		scene := perfgen.NewScene(uint64(i), []perfgen.Event{event}, "/bin/ours", "/lib/other.so")
		inOrder := scene.Records(400)
		file := perfgen.File{Events: []perfgen.Event{event}, Records: scene.Disorder(inOrder)}
		file.Records = append(file.Records, perfgen.Trace(100_000), perfgen.RawRecord{Type: 200, Data: []byte("unknown ")})
		var fileOrder []perfdata.Record
		for _, r := range file.Records {
			if r, ok := r.(perfdata.Record); ok {
				fileOrder = append(fileOrder, r)
			}
		}
		variants(file, func(name string, f *perfgen.File) {
			data := f.Bytes()
			got, err := all(open(t, data).Records())
			require.NoError(t, err, name)
			require.Equal(t, normal(fileOrder, event), normal(got, event), "%s, layout %d", name, i)
			stream, err := perfdata.NewReader(iotest.HalfReader(io.MultiReader(bytes.NewReader(data))))
			require.NoError(t, err)
			got, err = all(stream.Ordered())
			require.NoError(t, err, name)
			if event.SampleIDAll {
				require.Equal(t, normal(inOrder, event), normal(got, event), "%s, layout %d", name, i)
			} else {
				require.Len(t, got, len(inOrder), name)
			}
		})
	}
}

// Records of the types that Android's simpleperf defines are skipped. They may be larger than
// records of perf.
func TestRecordsOfSimpleperf(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		f := smallFile(pipe)
		f.Records = append([]any{
			perfgen.RawRecord{Type: 32769, Data: make([]byte, 300_000)},
			perfgen.RawRecord{Type: 32774, Data: make([]byte, 8)},
		}, f.Records...)
		data := f.Bytes()
		got, err := all(open(t, data).Ordered())
		require.NoError(t, err)
		require.Len(t, got, 2)
		if pipe {
			requireFault(t, "cut", readAll(bytes.NewReader(data[:100_000])), afdo.ErrTruncated, 16+136+44)
		}
	}
}

// The event ID in a sample, at its beginning or in its usual place, determines the event of the
// sample.
func TestSeveralEvents(t *testing.T) {
	for name, events := range map[string][]perfgen.Event{
		"different layouts": {
			{SampleType: perfgen.Identifier | perfgen.IP | perfgen.TID | perfgen.Time, SampleIDAll: true, IDs: []uint64{3, 4}},
			{SampleType: perfgen.Full, SampleIDAll: true, ReadFormat: 4, IDs: []uint64{5}},
		},
		"one layout": {
			{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.ID, SampleIDAll: true, IDs: []uint64{3, 4}},
			{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.ID, SampleIDAll: true, IDs: []uint64{5}},
		},
	} {
		scene := perfgen.NewScene(1, events, "/bin/ours")
		inOrder := scene.Records(200)
		variants(perfgen.File{Events: events, Records: scene.Disorder(inOrder)}, func(kind string, f *perfgen.File) {
			r := open(t, f.Bytes())
			got, err := all(r.Ordered())
			require.NoError(t, err, "%s: %s", name, kind)
			require.Equal(t, normal(inOrder, events[0]), normal(got, events[0]), "%s: %s", name, kind)
			require.Len(t, r.Events(), 2)
			require.Equal(t, events[1].IDs, r.Events()[1].IDs)
			require.Equal(t, name == "different layouts", r.Events()[1].HasBranches())
		})
	}
}

func TestBuildIDs(t *testing.T) {
	ids := []perfdata.BuildID{{Path: "/bin/ours", ID: "0123456789abcdef0123456789abcdef01234567"}, {Path: "[kernel.kallsyms]", ID: "0011"}}
	mapped := &perfdata.Mmap{PID: 1, TID: 1, Time: 5, Start: 4096, Length: 4096, Executable: true, Path: "/bin/other", BuildID: "aabbcc"}
	variants(perfgen.File{Events: perfgen.Layouts()[:1], BuildIDs: ids, Records: []any{mapped}}, func(name string, f *perfgen.File) {
		r := open(t, f.Bytes())
		got, err := all(r.Records())
		require.NoError(t, err, name)
		require.Equal(t, ids, r.BuildIDs(), name)
		require.Equal(t, []perfdata.Record{mapped}, got, name)
	})
}

// Without marks for rounds, Ordered sorts records whose distance in the file is less than
// maxWaiting bytes.
func TestOrderWithoutRounds(t *testing.T) {
	events := []perfgen.Event{{SampleType: perfgen.TID | perfgen.Time | perfgen.Raw, SampleIDAll: true}}
	raw := make([]byte, 4000)
	var records []any
	n := testenv.Rounds(2_000, 10_000)
	for i := range uint64(n) {
		records = append(records, &perfdata.Sample{Mode: perfdata.ModeUser, PID: 1, TID: 1, Time: 1000 + i ^ 0xff, Raw: raw})
	}
	data := (&perfgen.File{Events: events, Records: records}).Bytes()
	var times []uint64
	for r, err := range open(t, data).Ordered() {
		require.NoError(t, err)
		times = append(times, r.(*perfdata.Sample).Time)
	}
	require.Len(t, times, n)
	require.True(t, slices.IsSortedFunc(times, cmp.Compare[uint64]))
}

// Reading a sample allocates no memory, with Records and with Ordered.
func TestNoAllocationPerSample(t *testing.T) {
	event := perfgen.Layouts()[3]
	count := func(n int, ordered bool) float64 {
		scene := perfgen.NewScene(1, []perfgen.Event{event}, "/bin/ours")
		var records []any
		for _, r := range scene.Records(testenv.Rounds(500, 2000)) {
			if _, ok := r.(*perfdata.Sample); ok {
				records = append(records, r)
			}
		}
		var many []any
		for range n {
			many = append(append(many, records...), perfgen.Round{})
		}
		data := (&perfgen.File{Events: []perfgen.Event{event}, Records: many}).Bytes()
		return testing.AllocsPerRun(3, func() {
			r, err := perfdata.NewReader(bytes.NewReader(data))
			if err != nil {
				panic(err)
			}
			records := r.Records()
			if ordered {
				records = r.Ordered()
			}
			for _, err := range records {
				if err != nil {
					panic(err)
				}
			}
		})
	}
	for _, ordered := range []bool{false, true} {
		require.InDelta(t, count(2, ordered), count(6, ordered), 8, "ordered: %v", ordered)
	}
}
