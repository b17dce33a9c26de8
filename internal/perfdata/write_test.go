package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/aclements/go-perf/perffile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// nativeBig reports whether this machine is big-endian.
var nativeBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// A taken contains the parts of a recording: its head and its records.
type taken struct {
	head    perfdata.Head
	records [][]byte // as a kernel writes them
}

// takeApart splits a recording with one event into its head and its records.
func takeApart(t testing.TB, data []byte) taken {
	t.Helper()
	u64 := func(at uint64) uint64 { return binary.NativeEndian.Uint64(data[at:]) }
	attrSize, attrAt, at, size := u64(16)-16, u64(24), u64(40), u64(48)
	x := taken{head: perfdata.Head{Name: "event", Attr: data[attrAt:][:attrSize]}}
	for rest := data[at:][:size]; len(rest) > 0; {
		n := binary.NativeEndian.Uint16(rest[6:])
		if kind := binary.NativeEndian.Uint32(rest); kind < 64 {
			x.records = append(x.records, rest[:n])
		}
		rest = rest[n:]
	}
	return x
}

// write writes records with a Writer, and returns the recording in file mode and in pipe mode.
func write(t *testing.T, head *perfdata.Head, use func(*perfdata.Writer)) (file, stream []byte) {
	t.Helper()
	var records, out, pipe bytes.Buffer
	w, err := perfdata.NewWriter(&records, head)
	require.NoError(t, err)
	use(w)
	require.NoError(t, w.FinishRound())
	require.NoError(t, head.WritePipe(&pipe))
	pipe.Write(records.Bytes())
	require.NoError(t, head.WriteFile(&out, &records, int64(records.Len())))
	return out.Bytes(), pipe.Bytes()
}

// A Reader returns the records that a Writer has written, in all layouts and both modes. Some
// records are copies of the kernel's records, others are encoded by the Writer.
func TestWriterAndReader(t *testing.T) {
	for i, event := range perfgen.Layouts() {
		scene := perfgen.NewScene(uint64(i), []perfgen.Event{event}, "/bin/ours", "/lib/other.so")
		file := perfgen.File{Big: nativeBig, Events: []perfgen.Event{event}}
		list := scene.Records(300)
		for _, r := range list {
			file.Records = append(file.Records, r)
		}
		parts := takeApart(t, file.Bytes())
		for own := range 2 {
			got, stream := write(t, &parts.head, func(w *perfdata.Writer) {
				for j, raw := range parts.records {
					if writeOwn(t, w, list[j], own == 1) {
						continue
					}
					copied, err := w.Copy(raw)
					require.NoError(t, err)
					require.Equal(t, normal(list[j:j+1], event), normal([]perfdata.Record{clone(copied)}, event))
				}
			})
			for _, data := range [][]byte{got, stream} {
				again, err := all(open(t, data).Records())
				require.NoError(t, err)
				require.Equal(t, normal(list, event), normal(again, event), "layout %d", i)
			}
		}
	}
}

// writeOwn writes a record with Writer.Write, if asked is set and the Writer can encode this type.
// It reports whether it has written the record.
func writeOwn(t *testing.T, w *perfdata.Writer, r perfdata.Record, asked bool) bool {
	switch m := r.(type) {
	case *perfdata.Comm, *perfdata.Fork, *perfdata.Exit:
	case *perfdata.Mmap:
		asked = asked && m.PID != perfdata.UnknownPID
	default:
		return false
	}
	if asked {
		require.NoError(t, w.Write(r))
	}
	return asked
}

// A Reader returns the samples that Writer.Write has encoded, in all layouts that it supports.
func TestWriterSamples(t *testing.T) {
	want := &perfdata.Sample{
		Mode: perfdata.ModeUser, PID: 3, TID: 4, Time: 5, IP: 4100, Period: 6,
		Branches: []perfdata.Branch{{From: 4120, To: 4096}, {From: 4130, To: 4112}},
	}
	for _, fields := range []uint64{
		perfgen.IP | perfgen.TID | perfgen.Time | perfgen.Period | perfgen.BranchStack,
		perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack,
		perfgen.IP | perfgen.TID,
	} {
		event := perfgen.Event{SampleType: fields, SampleIDAll: true}
		kernels := (&perfgen.File{Big: nativeBig, Events: []perfgen.Event{event}, Records: []any{want}}).Bytes()
		parts := takeApart(t, kernels)
		file, _ := write(t, &parts.head, func(w *perfdata.Writer) { require.NoError(t, w.Write(want)) })
		assert.Equal(t, parts.records, takeApart(t, file).records, "%#x", fields)
	}
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.CPU}
	parts := takeApart(t, (&perfgen.File{Big: nativeBig, Events: []perfgen.Event{event}}).Bytes())
	w, err := perfdata.NewWriter(nil, &parts.head)
	require.NoError(t, err)
	assert.ErrorContains(t, w.Write(want), "are not written")
}

// clone returns a copy of a record that stays valid.
func clone(r perfdata.Record) perfdata.Record {
	list, _ := all(func(yield func(perfdata.Record, error) bool) { yield(r, nil) })
	return list[0]
}

// Another reader finds the name of the event, the command and the build IDs that WriteFile has
// written.
func TestOtherReaderReadsHead(t *testing.T) {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, SampleIDAll: true}
	parts := takeApart(t, (&perfgen.File{Big: nativeBig, Events: []perfgen.Event{event}, Records: []any{
		&perfdata.Sample{PID: 1, TID: 1, Time: 2, IP: 4100, Branches: []perfdata.Branch{{From: 4120, To: 4096}}},
	}}).Bytes())
	head := parts.head
	head.Name, head.Arch, head.Command = "cycles:u", "x86_64", []string{"afdo", strings.Repeat("x", 63), strings.Repeat("y", 64)}
	head.BuildIDs = []perfdata.BuildID{{Path: "/bin/a", ID: "0123456789abcdef0123456789abcdef01234567"}, {Path: "/bin/b", ID: "0011"}}
	file, _ := write(t, &head, func(w *perfdata.Writer) {
		_, err := w.Copy(parts.records[0])
		require.NoError(t, err)
		require.NoError(t, w.Write(&perfdata.Mmap{PID: 1, TID: 1, Start: 4096, Length: 4096, Executable: true, Path: "/bin/a", BuildID: "0123456789abcdef0123456789abcdef01234567"}))
	})
	assert.Equal(t, head.BuildIDs, open(t, file).BuildIDs())
	f, err := perffile.New(bytes.NewReader(file))
	require.NoError(t, err)
	assert.Equal(t, head.Command, f.Meta.CmdLine)
	assert.Equal(t, head.Arch, f.Meta.Arch)
	require.Len(t, f.Meta.BuildIDs, 2)
	assert.Equal(t, "/bin/a", f.Meta.BuildIDs[0].Filename)
	assert.Equal(t, "0123456789abcdef0123456789abcdef01234567", f.Meta.BuildIDs[0].BuildID.String())
	require.Len(t, f.Events, 1)
}

// If a Writer refuses a record, it returns an error with the right class and offset, and writes
// nothing.
func TestWriterRefuses(t *testing.T) {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, SampleIDAll: true}
	whole := takeApart(t, (&perfgen.File{Big: nativeBig, Events: []perfgen.Event{event}, Records: []any{
		&perfdata.Sample{PID: 1, TID: 1, Time: 2, IP: 4100, Branches: []perfdata.Branch{{From: 4120, To: 4096}}},
		&perfdata.Mmap{PID: 1, TID: 1, Time: 1, Start: 4096, Length: 4096, Executable: true, Path: "/bin/a", BuildID: "0011"},
	}}).Bytes())
	sample, mmap := whole.records[0], whole.records[1]
	record := func(kind uint32, data ...byte) []byte {
		b := binary.NativeEndian.AppendUint32(nil, kind)
		b = binary.NativeEndian.AppendUint16(b, 0)
		b = binary.NativeEndian.AppendUint16(b, uint16(8+len(data)))
		return append(b, data...)
	}
	changed := func(b []byte, at int, v byte) []byte {
		b = bytes.Clone(b)
		b[at] = v
		return b
	}
	for name, c := range map[string]struct {
		record []byte
		class  error
		offset int64 // from the record
	}{
		"nothing":           {nil, perfdata.ErrRecord, 0},
		"half a header":     {sample[:6], perfdata.ErrRecord, 0},
		"cut":               {sample[:len(sample)-8], perfdata.ErrRecord, 0},
		"of no kernel":      {record(64), perfdata.ErrRecord, 0},
		"of simpleperf":     {record(32768), perfdata.ErrRecord, 0},
		"sample too short":  {record(9, 1, 2, 3, 4, 5, 6, 7, 8), afdo.ErrTruncated, 8},
		"too many branches": {changed(sample, 8+24, 2), afdo.ErrTruncated, 8},
		"mapping too short": {record(10, 1, 2, 3, 4, 5, 6, 7, 8), afdo.ErrTruncated, 0},
		"long build ID":     {changed(mmap, 8+32, 21), afdo.ErrCount, 40},
		"lost too short":    {record(2, 1, 2, 3, 4, 5, 6, 7, 8), afdo.ErrTruncated, 0},
		"throttle is empty": {record(5), afdo.ErrTruncated, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := perfdata.NewWriter(&out, &whole.head)
			require.NoError(t, err)
			_, err = w.Copy(sample)
			require.NoError(t, err)
			_, err = w.Copy(c.record)
			requireFault(t, name, err, c.class, int64(len(sample))+c.offset)
			assert.Equal(t, sample, out.Bytes(), name)
		})
	}
	var out bytes.Buffer
	w, err := perfdata.NewWriter(&out, &whole.head)
	require.NoError(t, err)
	for name, r := range map[string]perfdata.Record{
		"flags":       &perfdata.Sample{Branches: []perfdata.Branch{{Flags: 1}}},
		"a throttle":  &perfdata.Throttle{},
		"no build ID": &perfdata.Mmap{BuildID: "x"},
		"long ID":     &perfdata.Mmap{BuildID: strings.Repeat("0", 42)},
		"long path":   &perfdata.Mmap{Path: strings.Repeat("x", 1<<16)},
		"long name":   &perfdata.Comm{Name: strings.Repeat("x", 1<<16)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Error(t, w.Write(r), name)
		})
	}
	assert.Empty(t, out.Bytes())
}

// The flags of a branch hold numbers of bytes below 2^20 - 1, which the other flags do not change.
func TestFlagsOfCopy(t *testing.T) {
	for bytes, known := range map[int]bool{0: true, 1: true, 1<<20 - 2: true, 1<<20 - 1: false, -1: false} {
		n, ok := (perfdata.FlagsOfCopy(bytes) | 0xf<<60 | 0xff).Copied()
		assert.Equal(t, known, ok, "%d", bytes)
		if known {
			assert.Equal(t, uint64(bytes), n)
		}
	}
}

// WriteFile and WritePipe return an error for an invalid attribute or build ID, and for records of
// another size than announced.
func TestHeadRefuses(t *testing.T) {
	good := takeApart(t, (&perfgen.File{Big: nativeBig, Events: []perfgen.Event{{SampleType: perfgen.IP}}}).Bytes()).head
	for name, attr := range map[string][]byte{"none": nil, "cut": good.Attr[:60], "too long": append(bytes.Clone(good.Attr), 0)} {
		t.Run(name, func(t *testing.T) {
			head := perfdata.Head{Attr: attr}
			_, err := perfdata.NewWriter(nil, &head)
			assert.ErrorContains(t, err, "perf_event_attr", name)
			assert.ErrorContains(t, head.WritePipe(nil), "perf_event_attr", name)
			assert.ErrorContains(t, head.WriteFile(nil, nil, 0), "perf_event_attr", name)
		})
	}
	var out bytes.Buffer
	assert.Error(t, good.WriteFile(&out, strings.NewReader("1234567"), 8))
	good.BuildIDs = []perfdata.BuildID{{Path: "/a", ID: "zz"}}
	assert.ErrorContains(t, good.WriteFile(&out, strings.NewReader(""), 0), "no build ID")
}

// A Reader returns records about lost samples, in both forms of the kernel, and about pauses of an
// event.
func TestLostAndThrottled(t *testing.T) {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time, SampleIDAll: true}
	words := func(list ...uint64) (b []byte) {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	f := perfgen.File{Events: []perfgen.Event{event}, Records: []any{
		perfgen.RawRecord{Type: 2, Data: words(7, 30, 1<<32|1, 100)}, // ID, count; process, time
		perfgen.RawRecord{Type: 13, Data: words(12, 1<<32|1, 101)},
		perfgen.RawRecord{Type: 5, Data: words(102, 7, 8, 1<<32|1, 102)},
		perfgen.RawRecord{Type: 6, Data: words(103, 7, 8, 1<<32|1, 103)},
	}}
	got, err := all(open(t, f.Bytes()).Ordered())
	require.NoError(t, err)
	assert.Equal(t, []perfdata.Record{
		&perfdata.Lost{Count: 30, Time: 100}, &perfdata.Lost{Count: 12, Time: 101}, &perfdata.Throttle{Time: 102},
	}, got)

	written, stream := write(t, &perfdata.Head{Name: "x", Attr: takeApart(t, f.Bytes()).head.Attr}, func(w *perfdata.Writer) {
		require.NoError(t, w.Write(&perfdata.Lost{Count: 9, Time: 5}))
	})
	for _, data := range [][]byte{written, stream} {
		got, err := all(open(t, data).Records())
		require.NoError(t, err)
		assert.Equal(t, []perfdata.Record{&perfdata.Lost{Count: 9, Time: 5}}, got)
	}
}
