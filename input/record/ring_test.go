package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A kernel writes records into a ring as Linux does: only whole records, and only while there is
// room.
type kernel struct {
	ring
	head, tail atomic.Uint64
}

// newKernel returns a kernel with a ring of the given size. The counters of the ring begin at
// start.
func newKernel(size int, start uint64) *kernel {
	k := new(kernel)
	k.head.Store(start)
	k.tail.Store(start)
	k.ring = ring{head: &k.head, tail: &k.tail, data: make([]byte, size), read: start}
	return k
}

// put writes a record into the ring. It returns false if there is no room for the record.
func (k *kernel) put(record []byte) bool {
	head := k.head.Load()
	if int(head-k.tail.Load())+len(record) > len(k.data) {
		return false
	}
	for i, b := range record {
		k.data[(head+uint64(i))%uint64(len(k.data))] = b
	}
	k.head.Store(head + uint64(len(record)))
	return true
}

// takeApart splits a recording with one event into its head and its records.
func takeApart(t testing.TB, data []byte) (head perfdata.Head, records [][]byte) {
	t.Helper()
	u64 := func(at int) uint64 { return binary.NativeEndian.Uint64(data[at:]) }
	head = perfdata.Head{Name: "cycles:u", Attr: data[u64(24):][:u64(16)-16]}
	for rest := data[u64(40):][:u64(48)]; len(rest) > 0; {
		size := binary.NativeEndian.Uint16(rest[6:])
		if kind := binary.NativeEndian.Uint32(rest); kind < 64 {
			records = append(records, rest[:size])
		}
		rest = rest[size:]
	}
	return head, records
}

// recordings returns recordings with branch stacks, by name: a generated one, and those of Intel's
// processors in the corpus.
func recordings(t *testing.T) map[string][]byte {
	event := perfgen.Event{
		SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.Period | perfgen.BranchStack, SampleIDAll: true,
	}
	scene := perfgen.NewScene(3, []perfgen.Event{event}, "/bin/ours", "/lib/other.so")
	file := perfgen.File{Events: []perfgen.Event{event}, Big: binary.NativeEndian.Uint16([]byte{0, 1}) == 1}
	for _, r := range scene.Records(2000) {
		file.Records = append(file.Records, r)
	}
	list := map[string][]byte{"made up": file.Bytes()}
	if testenv.Sweep() {
		list["clang"] = testenv.CorpusData(t, "create", "lbr/test.lbr.gz")
		list["propeller"] = testenv.CorpusData(t, "create", "lbr/propeller.perfdata.gz")
	}
	return list
}

// list returns copies of the records of a recording, in the order of the file.
func list(t testing.TB, data []byte) []any {
	t.Helper()
	r, err := perfdata.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	var all []any
	for record, err := range r.Records() {
		require.NoError(t, err)
		switch r := record.(type) {
		case *perfdata.Sample:
			c := *r
			c.Branches, c.Stack, c.Raw = append([]perfdata.Branch{}, r.Branches...), append([]uint64{}, r.Stack...), append([]byte{}, r.Raw...)
			all = append(all, c)
		case *perfdata.Mmap:
			all = append(all, *r)
		case *perfdata.Comm:
			all = append(all, *r)
		case *perfdata.Fork:
			all = append(all, *r)
		case *perfdata.Exit:
			all = append(all, *r)
		case *perfdata.Lost:
			all = append(all, *r)
		case *perfdata.Throttle:
			all = append(all, *r)
		}
	}
	return all
}

// Records of real recordings are written into rings of many sizes, where some wrap around at the
// end. The recording that is made of the rings contains the same records.
func TestReplay(t *testing.T) {
	for name, data := range recordings(t) {
		head, records := takeApart(t, data)
		for _, start := range []uint64{0, 1<<64 - 1<<15 - 24} { // the counters overflow one day
			k := newKernel(1<<16, start)
			var spool, out bytes.Buffer
			w, err := perfdata.NewWriter(&spool, &head)
			require.NoError(t, err)
			s := newSink(w)
			random := rand.New(rand.NewPCG(1, start))
			for _, r := range records {
				for !k.put(r) {
					require.NoError(t, s.round([]*ring{&k.ring}))
				}
				if random.IntN(300) == 0 {
					require.NoError(t, s.round([]*ring{&k.ring}))
				}
			}
			require.NoError(t, s.round([]*ring{&k.ring}))
			require.NoError(t, head.WriteFile(&out, &spool, int64(spool.Len())))
			want, got := list(t, data), list(t, out.Bytes())
			require.Len(t, got, len(want), name)
			samples := 0
			for i, r := range want {
				require.Equal(t, r, got[i], "%s: record %d", name, i)
				if _, ok := r.(perfdata.Sample); ok {
					samples++
				}
			}
			assert.Equal(t, uint64(samples), s.report.Samples, name)
			assert.NotZero(t, s.report.Stacks, name)
			assert.NotEmpty(t, s.files, name)
		}
	}
}

// Invalid counters or records in a ring end the recording with an error.
func TestBadRing(t *testing.T) {
	record := func(size uint16, data ...byte) []byte {
		b := binary.NativeEndian.AppendUint32(nil, 200) // of a kind that is passed over
		b = binary.NativeEndian.AppendUint16(b, 0)
		return append(binary.NativeEndian.AppendUint16(b, size), data...)
	}
	for name, c := range map[string]struct {
		change func(k *kernel)
		err    string
	}{
		"head is far ahead":  {func(k *kernel) { k.head.Store(100 + 65) }, "65 unread bytes"},
		"head is behind":     {func(k *kernel) { k.head.Store(99) }, "unread bytes"},
		"half a header":      {func(k *kernel) { k.put(record(8)[:4]) }, "ends in a record of 4 bytes"},
		"no bytes":           {func(k *kernel) { k.put(record(0)) }, "a record of 0 bytes"},
		"less than a header": {func(k *kernel) { k.put(record(7)) }, "a record of 7 bytes"},
		"longer than it is":  {func(k *kernel) { k.put(record(16)) }, "a record of 16 bytes, where 8 are left"},
		"head in a record":   {func(k *kernel) { k.put(record(16, 1, 2, 3, 4, 5, 6, 7)) }, "a record of 16 bytes, where 15 are left"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(64, 100)
			c.change(k)
			err := k.drain(func([]byte) error { return nil })
			require.ErrorIs(t, err, errRing, name)
			assert.ErrorContains(t, err, c.err, name)
		})
	}
	k := newKernel(64, 100)
	require.True(t, k.put(record(8)))
	failure := errors.New("failure")
	require.ErrorIs(t, k.drain(func([]byte) error { return failure }), failure)
	assert.Equal(t, uint64(100), k.tail.Load(), "what is not written is not given up")
}

// FuzzRing fills a ring with random bytes. Draining it must end, with or without an error, and a
// Reader must accept the records that were written.
func FuzzRing(f *testing.F) {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, SampleIDAll: true}
	scene := perfgen.NewScene(1, []perfgen.Event{event}, "/bin/ours")
	file := perfgen.File{Events: []perfgen.Event{event}, Big: binary.NativeEndian.Uint16([]byte{0, 1}) == 1}
	for _, r := range scene.Records(20) {
		file.Records = append(file.Records, r)
	}
	head, records := takeApart(f, file.Bytes())
	const size = 1 << 14
	f.Add(bytes.Join(records, nil), uint64(0), uint64(size-64))
	f.Add(bytes.Join(records, nil), uint64(len(bytes.Join(records, nil))), uint64(1<<64-8))
	f.Fuzz(func(t *testing.T, data []byte, filled, start uint64) {
		k := newKernel(size, start)
		for i, b := range data[:min(len(data), size)] {
			k.data[(start+uint64(i))%size] = b
		}
		if filled == 0 {
			filled = uint64(min(len(data), size))
		}
		k.head.Store(start + filled)
		var spool, out bytes.Buffer
		w, err := perfdata.NewWriter(&spool, &head)
		require.NoError(t, err)
		s := newSink(w)
		if err := s.round([]*ring{&k.ring}); err == nil {
			require.Equal(t, start+filled, k.tail.Load())
		} else {
			var fault *afdo.FormatError
			require.True(t, errors.Is(err, errRing) || errors.As(err, &fault), "%v", err)
			require.NoError(t, w.FinishRound()) // what came before is whole
		}
		require.NoError(t, head.WriteFile(&out, &spool, int64(spool.Len())))
		samples := uint64(0)
		for _, r := range list(t, out.Bytes()) {
			if _, ok := r.(perfdata.Sample); ok {
				samples++
			}
		}
		require.Equal(t, s.report.Samples, samples)
	})
}

// drain returns the errors of the output.
func TestSinkFails(t *testing.T) {
	head, records := takeApart(t, recordings(t)["made up"])
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	writer, err := perfdata.NewWriter(w, &head)
	require.NoError(t, err)
	k := newKernel(1<<16, 0)
	require.True(t, k.put(records[0]))
	require.ErrorIs(t, newSink(writer).round([]*ring{&k.ring}), io.ErrClosedPipe)
}
