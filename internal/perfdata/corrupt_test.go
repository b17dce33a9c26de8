package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// smallFile returns a recording of 440 bytes. Its parts are: header (offset 0, 104 bytes), event
// IDs (104, 16 bytes), attribute (120, 128 bytes), a mapping (248, 112 bytes), a sample with one
// branch (360, 72 bytes), and the end of a round (432).
func smallFile(pipe bool) perfgen.File {
	event := perfgen.Event{
		SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, BranchType: perfgen.HWIndex,
		SampleIDAll: true, IDs: []uint64{3, 4},
	}
	return perfgen.File{
		Pipe: pipe, Events: []perfgen.Event{event}, BuildIDs: []perfdata.BuildID{{Path: "/bin/a", ID: "abcd"}},
		Records: []any{
			&perfdata.Mmap{PID: 1, TID: 1, Time: 1, Start: 4096, Length: 4096, Executable: true, Path: "/usr/local/bin/program"},
			&perfdata.Sample{PID: 1, TID: 1, Time: 2, IP: 4100, Branches: []perfdata.Branch{{From: 4120, To: 4096}}},
			perfgen.Round{},
		},
	}
}

const (
	attrAt   = 120
	mmapAt   = 248
	sampleAt = 360
	roundAt  = 432
	placeAt  = 440 // of features
	tableAt  = 488 // of build IDs
)

func put16(at int, v uint16) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint16(b[at:], v); return b }
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
}

func put64(at int, v uint64) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
}

// shorter returns a change of a recording: it sets the size of the records in the header, and
// removes the bytes after them.
func shorter(size uint64) func([]byte) []byte {
	return func(b []byte) []byte { return put64(48, size)(put64(72, 0)(b)) }
}

func cut(at int) func([]byte) []byte { return func(b []byte) []byte { return b[:at] } }

func TestCorruptFiles(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]byte) []byte
		class  error
		offset int64
	}{
		"empty":                     {cut(0), afdo.ErrTruncated, 0},
		"other magic":               {put64(0, 0), afdo.ErrMagic, 0},
		"old magic":                 {func(b []byte) []byte { copy(b, "PERFFILE"); return b }, afdo.ErrMagic, 0},
		"magic alone":               {cut(8), afdo.ErrTruncated, 8},
		"header size":               {put64(8, 105), afdo.ErrHeader, 8},
		"header cut":                {cut(100), afdo.ErrTruncated, 100},
		"attribute size 0":          {put64(16, 0), afdo.ErrHeader, 16},
		"attributes do not divide":  {put64(32, 129), afdo.ErrHeader, 16},
		"no attributes":             {put64(32, 0), afdo.ErrCount, 24},
		"attributes outside":        {put64(24, 1<<40), afdo.ErrTruncated, 532},
		"attributes far outside":    {put64(24, ^uint64(0)), afdo.ErrTruncated, 532},
		"perf was killed":           {put64(48, 0), afdo.ErrHeader, 48},
		"records outside":           {put64(48, 1<<20), afdo.ErrTruncated, 532},
		"attribute larger than its": {put32(attrAt+4, 113), afdo.ErrHeader, attrAt},
		"attribute of 8 bytes":      {put32(attrAt+4, 8), afdo.ErrHeader, attrAt},
		"IDs that are half":         {put64(attrAt+120, 12), afdo.ErrCount, attrAt},
		"IDs of the whole world":    {put64(attrAt+120, 1<<40), afdo.ErrCount, attrAt},
		"IDs outside":               {put64(attrAt+112, 528), afdo.ErrTruncated, 532},
		"place of features cut":     {cut(placeAt + 8), afdo.ErrTruncated, placeAt + 8},
		"build IDs cut":             {cut(tableAt + 8), afdo.ErrTruncated, tableAt + 8},
		"build ID of no size":       {put16(tableAt+6, 0), ErrRecord, tableAt},
		"build ID of great size":    {put16(tableAt+6, 1000), ErrRecord, tableAt},
		"build ID without name":     {func(b []byte) []byte { return put16(tableAt+6, 8)(b) }, afdo.ErrTruncated, tableAt},
		"build ID of 21 bytes":      {func(b []byte) []byte { b[tableAt+32] = 21; return b }, afdo.ErrCount, tableAt + 32},
		"record of no size":         {put16(mmapAt+6, 0), ErrRecord, mmapAt + 6},
		"record of 7 bytes":         {put16(mmapAt+6, 7), ErrRecord, mmapAt + 6},
		"record past the end":       {put16(roundAt+6, 16), ErrRecord, roundAt + 6},
		"records end in a header":   {shorter(192 + 4), afdo.ErrTruncated, placeAt},
		"records end in a record":   {shorter(192 - 8 - 20), ErrRecord, sampleAt + 6},
		"path without end":          {func(b []byte) []byte { return fill(b, mmapAt+72, mmapAt+112, 'x') }, afdo.ErrTruncated, mmapAt},
		"build ID in mapping of 21": {func(b []byte) []byte { b[mmapAt+40] = 21; return put16(mmapAt+4, 1<<14)(b) }, afdo.ErrCount, mmapAt + 40},
		"branches of great count":   {put64(sampleAt+32, 1<<60), afdo.ErrTruncated, sampleAt + 8},
		"one branch too many":       {put64(sampleAt+32, 2), afdo.ErrTruncated, sampleAt + 8},
		"trace data past the end":   {put32(roundAt, 71), ErrRecord, roundAt},
		"compressed nothing":        {put32(sampleAt, 81), afdo.ErrCompressed, sampleAt},
		"two recordings joined":     {func(b []byte) []byte { return append(b, b...) }, afdo.ErrHeader, 532},
		"compressed of great size":  {put32(sampleAt, 83), afdo.ErrCount, sampleAt},
	} {
		t.Run(name, func(t *testing.T) {
			f := smallFile(false)
			data := f.Bytes()
			require.Len(t, data, 532)
			for kind, src := range map[string]io.Reader{"file": bytes.NewReader(c.change(slices.Clone(data))), "stream": io.MultiReader(bytes.NewReader(c.change(slices.Clone(data))))} {
				requireFault(t, name+", "+kind, readAll(src), c.class, c.offset)
			}
		})
	}
}

var ErrRecord = perfdata.ErrRecord

func fill(b []byte, from, to int, c byte) []byte {
	copy(b[from:to], bytes.Repeat([]byte{c}, to-from))
	return b
}

// readAll reads a recording to its end or to the first error.
func readAll(src io.Reader) error {
	r, err := perfdata.NewReader(src)
	if err != nil {
		return err
	}
	for _, err := range r.Ordered() {
		if err != nil {
			return err
		}
	}
	return nil
}

func requireFault(t *testing.T, name string, err, class error, offset int64) {
	t.Helper()
	require.ErrorIs(t, err, class, name)
	require.Equal(t, class != afdo.ErrLimit, errors.Is(err, afdo.ErrMalformed), name)
	var fault *afdo.FormatError
	require.ErrorAs(t, err, &fault, name)
	require.Equal(t, offset, fault.Offset, "%s: %v", name, err)
}

// A record that is too short for its fields gives an error.
func TestShortRecords(t *testing.T) {
	for kind, lengths := range map[uint32][]int{1: {0, 8, 32, 39}, 10: {0, 40, 63, 70}, 3: {0, 8, 12}, 7: {0, 23}, 4: {16}, 9: {0, 24, 39, 48}} {
		for _, n := range lengths {
			f := smallFile(false)
			f.Records = []any{perfgen.RawRecord{Type: kind, Data: bytes.Repeat([]byte{0x11}, n)}}
			offset := int64(mmapAt)
			if kind == 9 {
				offset += 8
			}
			requireFault(t, fmt.Sprintf("type %d of %d bytes", kind, n), readAll(bytes.NewReader(f.Bytes())), afdo.ErrTruncated, offset)
		}
	}
}

// Raw data whose length exceeds the sample gives an error.
func TestGreatRawData(t *testing.T) {
	f := smallFile(false)
	f.Events[0].SampleType = perfgen.IP | perfgen.Raw
	f.Records = []any{perfgen.RawRecord{Type: 9, Data: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff, 0, 0, 0, 0}}}
	requireFault(t, "raw", readAll(bytes.NewReader(f.Bytes())), afdo.ErrTruncated, mmapAt+8)
}

// Each corruption of a recording in pipe mode gives the right error. The recording has a header of
// 16 bytes, a record of 136 bytes with the event, and a record of 44 bytes with a build ID.
func TestCorruptPipes(t *testing.T) {
	f := smallFile(true)
	data := f.Bytes()
	const sample = 16 + 136 + 44 + 112
	for name, c := range map[string]struct {
		change func([]byte) []byte
		class  error
		offset int64
	}{
		"header alone":           {cut(16), afdo.ErrTruncated, 16},
		"cut in a header":        {cut(20), afdo.ErrTruncated, 16},
		"cut in a record":        {cut(100), afdo.ErrTruncated, 16},
		"cut in a sample":        {cut(sample + 71), afdo.ErrTruncated, sample},
		"event is cut":           {put16(16+6, 60), ErrRecord, 16},
		"half an ID":             {put16(16+6, 132), ErrRecord, 16},
		"sample before events":   {put32(16, 9), perfdata.ErrEvent, 16},
		"cut after trace data":   {put32(sample, 71), afdo.ErrTruncated, sample},
		"event in no attribute":  {put32(16+12, 4), ErrRecord, 16},
		"two joined":             {func(b []byte) []byte { return append(b, b...) }, afdo.ErrHeader, int64(len(data))},
		"build ID is very short": {put16(16+136+6, 20), afdo.ErrTruncated, 16 + 136},
	} {
		t.Run(name, func(t *testing.T) {
			requireFault(t, name, readAll(bytes.NewReader(c.change(slices.Clone(data)))), c.class, c.offset)
		})
	}
}

// A truncated recording in file mode always gives an error. In pipe mode it gives an error unless
// it ends between two records.
func TestEveryCut(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		f := smallFile(pipe)
		data := f.Bytes()
		whole := map[int]bool{len(data): true}
		if pipe {
			for _, n := range []int{16 + 136, 16 + 136 + 44, 16 + 136 + 44 + 112, 16 + 136 + 44 + 112 + 72} {
				whole[n] = true
			}
		}
		for n := range len(data) + 1 {
			err := readAll(bytes.NewReader(data[:n]))
			require.Equal(t, whole[n], err == nil, "pipe %v, cut at %d: %v", pipe, n, err)
		}
	}
}

// Compressed data gives an error if it ends within a record, or if it expands without limit.
func TestCorruptCompression(t *testing.T) {
	f := smallFile(true)
	f.Compression = perfgen.Compressed
	for _, r := range perfgen.NewScene(1, f.Events, "/bin/ours").Records(30) {
		f.Records = append(f.Records, r)
	}
	data := f.Bytes()
	start := 16 + 136 + 44
	err := readAll(bytes.NewReader(data))
	require.NoError(t, err)
	last := start // of the compressed records
	for next := start; next < len(data); next += int(binary.LittleEndian.Uint16(data[next+6:])) {
		last = next
	}
	require.Greater(t, last, start, "a piece of the stream is in a second record")
	data[start+8+4] ^= 0xff
	requireFault(t, "frame", readAll(bytes.NewReader(data)), afdo.ErrCompressed, int64(start))

	block := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // a frame with a window of 2 MB
	for range 10_000 {
		block = append(block, 0x02, 0x00, 0x10, 0x40) // 128 KB of one byte: records that have 0x4040 bytes
	}
	f.Compression, f.Records = perfgen.None, []any{perfgen.RawRecord{Type: 81, Data: block}}
	before := allocated()
	requireFault(t, "bomb", readAll(bytes.NewReader(f.Bytes())), afdo.ErrLimit, int64(start))
	require.Less(t, allocated()-before, uint64(64<<20))

	f.Records = []any{perfgen.RawRecord{Type: 81, Data: []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98, 0x02, 0x00, 0x10}}}
	requireFault(t, "window", readAll(bytes.NewReader(f.Bytes())), afdo.ErrLimit, int64(start))
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A sample without an event ID gives an error if it may belong to two events with different
// layouts.
func TestUnknownEvent(t *testing.T) {
	events := []perfgen.Event{
		{SampleType: perfgen.Identifier | perfgen.IP, IDs: []uint64{1}},
		{SampleType: perfgen.Identifier | perfgen.IP | perfgen.Time, IDs: []uint64{2}},
	}
	f := perfgen.File{Events: events, Records: []any{&perfdata.Sample{Event: 1, Time: 5}}}
	data := f.Bytes()
	require.NoError(t, readAll(bytes.NewReader(data)))
	at := bytes.LastIndex(data, []byte{9, 0, 0, 0, 0, 0, 32, 0})
	data[at+8] = 3
	requireFault(t, "ID", readAll(bytes.NewReader(data)), perfdata.ErrEvent, int64(at))
}

// Errors of the input are returned unchanged, and not as faults of the recording.
func TestErrorsOfTheInput(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		f := smallFile(pipe)
		data := f.Bytes()
		for n := range len(data) - 1 {
			src := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(io.ErrNoProgress))
			require.ErrorIs(t, readAll(src), io.ErrNoProgress, "pipe %v, after %d", pipe, n)
		}
	}
}

// A loop over the records may end before the last record, also in compressed data.
func TestLeavingEarly(t *testing.T) {
	for _, compression := range []perfgen.Compression{perfgen.None, perfgen.Padded} {
		f := smallFile(false)
		f.Compression = compression
		data := f.Bytes()
		before := runtime.NumGoroutine()
		for range 10 {
			for r, err := range open(t, data).Ordered() {
				require.NoError(t, err)
				require.IsType(t, &perfdata.Mmap{}, r)
				break
			}
			for r, err := range open(t, data).Records() {
				require.NoError(t, err)
				require.IsType(t, &perfdata.Mmap{}, r)
				break
			}
		}
		require.LessOrEqual(t, runtime.NumGoroutine(), before+1)
	}
}

// If a recording is modified while it is read, the error is of class afdo.ErrChanged, whatever the
// new bytes are.
func TestChanged(t *testing.T) {
	file := perfgen.File{
		Events:  []perfgen.Event{{SampleType: perfgen.IP | perfgen.TID}},
		Records: []any{&perfdata.Sample{IP: 1}, &perfdata.Sample{IP: 2}},
	}
	data := file.Bytes()
	for name, change := range map[string]func(f *os.File) error{
		"shorter":   func(f *os.File) error { return f.Truncate(int64(len(data) / 2)) },
		"longer":    func(f *os.File) error { _, err := f.WriteAt(data, int64(len(data))); return err },
		"rewritten": func(f *os.File) error { _, err := f.WriteAt(make([]byte, len(data)), 0); return err },
		"touched":   func(f *os.File) error { return nil },
	} {
		for order, records := range map[string]func(*perfdata.Reader) iter.Seq2[perfdata.Record, error]{"records": (*perfdata.Reader).Records, "ordered": (*perfdata.Reader).Ordered} {
			path := filepath.Join(t.TempDir(), "perf.data")
			require.NoError(t, os.WriteFile(path, data, 0o600))
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			defer f.Close()
			r, err := perfdata.NewReader(f)
			require.NoError(t, err)
			require.NoError(t, change(f))
			require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
			err = nil
			for _, fault := range records(r) {
				err = fault
			}
			require.ErrorIs(t, err, afdo.ErrChanged, "%s, %s", name, order)
		}
	}
}
