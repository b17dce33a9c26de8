package samples_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// fuzzRead reads any bytes as a format. Read must return samples that are the same after a
// conversion to the text form and back, or an error of a documented class.
func fuzzRead(t *testing.T, in []byte, b *samples.Binary, format samples.Format) {
	s, r, err := samples.Read(bytes.NewReader(in), b, samples.Options{Format: format, Contexts: true})
	if err != nil {
		var place *afdo.FormatError
		known := errors.Is(err, afdo.ErrNotFound) || errors.Is(err, samples.ErrNoEvent) || errors.As(err, &place)
		require.True(t, known, "%v", err)
		if !errors.Is(err, samples.ErrNoEvent) { // of which text has a report, and a profile of pprof has none
			require.Equal(t, place == nil, r != nil)
		}
		return
	}
	require.LessOrEqual(t, r.InBinary, r.Samples)
	once := text(t, s)
	again, err := samples.Parse(bytes.NewReader([]byte(once)))
	require.NoError(t, err)
	require.Equal(t, once, text(t, again))
	if s.NumTraces() > 0 {
		fuzzTraces(t, s, r)
		plain, _, err := samples.Read(bytes.NewReader(in), b, samples.Options{Format: format})
		require.NoError(t, err)
		require.Equal(t, once, text(t, plain), "what else is counted is the same")
	}
}

// fuzzTraces checks the traces of a Set: they have branches of the binary, can be added to another
// Set without a change, and are not more than the samples with branch stacks.
func fuzzTraces(t *testing.T, s *samples.Set, r *samples.Report) {
	sum, again := uint64(0), new(samples.Set)
	for trace, n := range s.Traces() {
		require.NotEmpty(t, trace.Branches)
		sum += n
		again.AddTrace(trace, n)
	}
	require.LessOrEqual(t, sum, r.Stacks)
	require.Equal(t, traces(s), traces(again))
}

// traces returns the traces of a Set as text, each with its count.
func traces(s *samples.Set) (list []string) {
	for trace, n := range s.Traces() {
		list = append(list, fmt.Sprint(trace, n))
	}
	return list
}

func FuzzReadPerfData(f *testing.F) {
	for i, event := range perfgen.Layouts() {
		scene := perfgen.NewScene(uint64(i), []perfgen.Event{event}, "/bin/ours")
		f.Add((&perfgen.File{Big: i%2 == 0, Events: []perfgen.Event{event}, Records: scene.Disorder(scene.Records(20))}).Bytes())
	}
	addRecorded(f, "*.data")
	b := plain(f, "ours", elf.ET_DYN)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.PerfData) })
}

func FuzzReadPreAggregated(f *testing.F) {
	f.Add([]byte(preAggregated))
	b := plain(f, "ours", elf.ET_EXEC)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.PreAggregated) })
}

func FuzzReadPerfScript(f *testing.F) {
	f.Add([]byte("PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 2]: r-xp /bin/ours\n 1020 0x1030/0x1010/P/-/-/1 0x1050/0x1020/P/-/-/2\n"))
	f.Add([]byte("a 5 1.5: cpu-clock: \n\t  1020 f (/bin/ours)\n\t  1030 f (/bin/ours)\n\n"))
	f.Add([]byte("PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 2]: r-xp /bin/ours\n\t1020\n\t1031\n 0x1030/0x1010/P/-/-/1 0x1050/0x1020/P/-/-/2\n\n"))
	addRecorded(f, "*.script")
	b := plain(f, "ours", elf.ET_EXEC)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.PerfScript) })
}

func FuzzReadCallgrind(f *testing.F) {
	f.Add([]byte(cg))
	addRecorded(f, "*.callgrind")
	b := plain(f, "ours", elf.ET_DYN)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.Callgrind) })
}

func FuzzReadPprof(f *testing.F) {
	var raw bytes.Buffer
	require.NoError(f, cpuProfile().WriteUncompressed(&raw))
	f.Add(raw.Bytes())
	f.Add(pprofBytes(f, cpuProfile()))
	b := plain(f, "ours", elf.ET_DYN)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.Pprof) })
}
