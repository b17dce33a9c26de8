package samples_test

import (
	"bytes"
	"debug/elf"
	bytesof "encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// An edit changes a field of a record in a recording: it selects the record, the field, and the
// change.
type edit struct {
	record, field, how byte
	value              uint64
}

const editSize = 11

// editsOf decodes edits from the bytes of a fuzzer.
func editsOf(data []byte) (list []edit) {
	for ; len(data) >= editSize; data = data[editSize:] {
		list = append(list, edit{data[0], data[1], data[2], bytesof.LittleEndian.Uint64(data[3:])})
	}
	return list
}

// on changes a field. Values near the old value are as likely as random ones.
func (e edit) on(field *uint64) {
	switch e.how % 4 {
	case 0:
		*field = e.value
	case 1:
		*field += e.value
	case 2:
		*field -= e.value
	case 3:
		*field ^= 1 << (e.value % 64)
	}
}

// process gives a record the IDs of one of a few processes. Some of these do not exist in the
// recording.
func (e edit) process(pid, tid *int32) {
	*pid = 100 + int32(e.value%6)
	*tid = *pid
}

// change applies the edit to its record.
func (e edit) change(records []perfdata.Record) {
	switch r := records[int(e.record)%len(records)].(type) {
	case *perfdata.Mmap:
		switch e.field % 6 {
		case 0:
			e.on(&r.Start)
		case 1:
			e.on(&r.Length)
		case 2:
			e.on(&r.PageOffset)
		case 3:
			if r.PID != perfdata.UnknownPID { // of the kernel
				e.process(&r.PID, &r.TID)
			}
		case 4:
			r.Executable = !r.Executable
		case 5:
			r.Path = []string{"/bin/ours", "/lib/other", "//anon", ""}[e.value%4]
		}
	case *perfdata.Fork:
		if e.field%2 == 0 {
			e.process(&r.PID, &r.TID)
		} else {
			e.process(&r.ParentPID, &r.ParentTID)
		}
	case *perfdata.Comm:
		e.process(&r.PID, &r.TID)
		r.Exec = e.field%2 == 0
	case *perfdata.Sample:
		e.changeSample(r)
	}
}

func (e edit) changeSample(s *perfdata.Sample) {
	if e.field == 0 || len(s.Branches) == 0 {
		e.on(&s.IP)
		return
	}
	b := &s.Branches[int(e.field>>2)%len(s.Branches)]
	switch e.field % 4 {
	case 0:
		e.process(&s.PID, &s.TID)
	case 1:
		e.on(&b.From)
	case 2:
		e.on(&b.To)
	case 3:
		*b = s.Branches[e.value%uint64(len(s.Branches))]
	}
}

// anonymous returns the number of mappings without a file.
func anonymous(records []perfdata.Record) (n int) {
	for _, r := range records {
		if m, ok := r.(*perfdata.Mmap); ok && (m.Path == "" || m.Path == "//anon") {
			n++
		}
	}
	return n
}

// FuzzSceneEdits changes addresses, lengths and process IDs in recordings whose framing is valid.
// Read must return the same samples as the naive collector.
func FuzzSceneEdits(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, byte(seed), []byte{})
	}
	f.Add(uint64(3), byte(5), []byte("\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, seed uint64, kind byte, data []byte) {
		events := perfgen.Layouts()[1+seed%3:][:1]
		scene := perfgen.NewScene(seed, events, "/home/me/ours", "/lib/other.so", "/elsewhere/ours.so")
		records := scene.Records(40)
		memory := anonymous(records)
		for _, e := range editsOf(data) {
			e.change(records)
		}
		want := naive{set: new(samples.Set), maps: make(map[int32][]perfdata.Mmap), events: events}
		for _, r := range records {
			want.take(r)
		}
		file := perfgen.File{
			Big: kind&1 != 0, Pipe: kind&2 != 0, Compression: perfgen.Compression(kind / 4 % 3),
			Events: events, Records: scene.Disorder(records),
		}
		s, r, err := samples.Read(bytes.NewReader(file.Bytes()), plain(t, "build/ours", elf.ET_DYN), samples.Options{})
		if errors.Is(err, afdo.ErrNotFound) {
			require.Empty(t, text(t, want.set)[len("0\n0\n0\n"):])
			return
		}
		require.NoError(t, err)
		if anonymous(records) > memory { // it may hold moved code, which the plain collector does not know
			require.Equal(t, want.all, r.Samples)
			return
		}
		require.Equal(t, text(t, want.set), text(t, s))
		require.Equal(t, want.set.Times, s.Times)
		require.Equal(t, []uint64{want.all, want.bogus}, []uint64{r.Samples, r.Bogus})
	})
}
