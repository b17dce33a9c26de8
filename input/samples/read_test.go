package samples_test

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// binary returns a binary of the corpus, with the name that it had when it was recorded.
func binary(t testing.TB, name string) *samples.Binary {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(testenv.CorpusData(t, "create", name)))
	require.NoError(t, err)
	b, err := samples.NewBinary(f, strings.TrimSuffix(name, ".gz"))
	require.NoError(t, err)
	return b
}

// references lists recordings of the corpus with their expected samples. Those of perf.data were
// computed by google/autofdo's sample_merger. Those of callgrind were computed by a script for this
// test, which adds the cost of PLT stubs to the calls.
var references = []struct {
	binary, recording, samples string
	format                     samples.Format
	all, inBinary, stacks      uint64
}{
	{"lbr/test.binary", "lbr/test.lbr.gz", "lbr/test.samples", samples.PerfData, 9232, 8989, 9232},
	{"lbr/propeller_sample_1.bin.gen", "lbr/propeller.perfdata.gz", "lbr/propeller.samples", samples.PerfData, 3740, 3733, 3732},
	{"lua/lua12.g.gz", "lua/lua12.cpuclock.perf.data", "lua/lua12.cpuclock.samples", samples.PerfData, 12932, 11262, 0},
	{"vec/vec12d4", "callgrind/vec12d4.callgrind.out", "vec/vec12d4.samples", samples.Callgrind, 361320, 234485, 0},
	{"vec/vec12d5", "callgrind/vec12d5.callgrind.out", "vec/vec12d5.samples", samples.Callgrind, 361320, 234485, 0},
	{"vec/vec16d5", "callgrind/vec16d5.callgrind.out", "vec/vec16d5.samples", samples.Callgrind, 363925, 237090, 0},
	{"lua/lua12.g.gz", "callgrind/lua12.callgrind.out.gz", "lua/lua12.samples.gz", samples.Callgrind, 248959106, 221034141, 0},
	{"lua/lua12.g.gz", "lua/lua12.samples.gz", "lua/lua12.samples.gz", samples.Text, 221550806, 221550806, 0},
}

func TestReadOfCorpus(t *testing.T) {
	for _, c := range references {
		s, r, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", c.recording)), binary(t, c.binary), samples.Options{})
		require.NoError(t, err, c.recording)
		want, got := string(testenv.CorpusData(t, "create", c.samples)), text(t, s)
		if c.format == samples.Callgrind {
			want = withoutStubs(t, want, got)
		}
		require.Equal(t, want, got, c.recording)
		require.Equal(t, []uint64{c.all, c.inBinary, c.stacks, 0, 0, 0},
			[]uint64{r.Samples, r.InBinary, r.Stacks, r.Bogus, r.Outside, r.Skipped}, c.recording)
		require.Equal(t, c.format, r.Format)
		require.Equal(t, c.format == samples.Callgrind, s.Exact)
		sum := uint64(0)
		for _, o := range r.Objects {
			sum += o.Samples
			if o.Ours {
				require.Equal(t, c.inBinary, o.Samples, c.recording)
			}
		}
		if c.format != samples.Text {
			require.Equal(t, c.all, sum, "every sample is in some object")
		}
	}
}

// withoutStubs returns a reference for callgrind without the cost of PLT stubs in the counts of
// calls. It corrects the calls whose count differs from got: such a call, of five bytes, cannot
// have run more often than the instruction after it.
func withoutStubs(t *testing.T, reference, got string) string {
	want, lines := strings.Split(reference, "\n"), strings.Split(got, "\n")
	require.Len(t, lines, len(want))
	count := func(line string) (address, n uint64) {
		_, err := fmt.Sscanf(line, "%x:%d", &address, &n)
		require.NoError(t, err, line)
		return address, n
	}
	for i := range want {
		if want[i] == lines[i] {
			continue
		}
		at, high := count(want[i])
		call, n := count(lines[i])
		require.Equal(t, at, call)
		require.Less(t, n, high)
		if next, after := count(lines[i+1]); next == at+5 {
			require.LessOrEqual(t, n, after)
		}
		want[i] = lines[i]
	}
	return strings.Join(want, "\n")
}

// Read returns the same for an input that is compressed, that arrives in small pieces, or that
// begins in the middle of a file that was read up to there.
func TestReadOfWrappedInputs(t *testing.T) {
	for _, c := range references[:testenv.Rounds(1, 3)] {
		data, b, want := testenv.CorpusData(t, "create", c.recording), binary(t, c.binary), string(testenv.CorpusData(t, "create", c.samples))
		file := filepath.Join(t.TempDir(), "perf.data")
		require.NoError(t, os.WriteFile(file, append([]byte("before"), data...), 0o600))
		f, err := os.Open(file)
		require.NoError(t, err)
		defer f.Close()
		_, err = f.Seek(int64(len("before")), io.SeekStart)
		require.NoError(t, err)
		var z, g bytes.Buffer
		zw, err := zstd.NewWriter(&z)
		require.NoError(t, err)
		gw := gzip.NewWriter(&g)
		for _, w := range []io.WriteCloser{zw, gw} {
			_, err := w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}
		for name, src := range map[string]io.Reader{"file": f, "gzip": &g, "zstd": &z, "stream": io.MultiReader(bytes.NewReader(data))} {
			s, _, err := samples.Read(src, b, samples.Options{})
			require.NoError(t, err, name)
			require.Equal(t, want, text(t, s), name)
		}
	}
}

// Read finds as many samples of Lua as perf script prints, in a recording in pipe mode and in one
// that perf has compressed.
func TestReadOfPipeAndCompressed(t *testing.T) {
	b := binary(t, "lua/lua12.g.gz")
	for name, want := range map[string]uint64{"perfscript/pipe.perf.data": 65, "perfscript/compressed.perf.data": 65} {
		_, r, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", name)), b, samples.Options{})
		require.NoError(t, err, name)
		require.Equal(t, want, r.InBinary, "%s %+v", name, r)
	}
}

func TestNoSamplesOfTheBinary(t *testing.T) {
	_, r, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", "lua/lua12.cpuclock.perf.data")), binary(t, "vec/vec12d5"), samples.Options{})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.Equal(t, uint64(12932), r.Samples)
	require.ErrorContains(t, err, "perf.data has no samples for vec/vec12d5 (build id c90dcc38bfab300e90e55a629d613651752a8166); "+
		"it has 11262 of /src/create-corpus/x/lua12.g (build id d200aae7859f54cce47948e4eea6e36bbe3ffa50), ")
	require.ErrorContains(t, err, "if one of them is the binary, choose it by name")
	other := binary(t, "lua/lua12.g.gz")
	_, _, err = samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", "lua/lua12.cpuclock.perf.data")), other, samples.Options{BuildID: strings.Repeat("ab", 20)})
	require.ErrorContains(t, err, "another build of that name ran: give the file as it was then")
	_, _, err = samples.Read(strings.NewReader("0\n0\n0\n"), binary(t, "vec/vec12d5"), samples.Options{})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.ErrorContains(t, err, "no samples at all")
}

// If no address is in a known file, the error names what the recording lacks.
func TestNoAddresses(t *testing.T) {
	b := described(t, "ours", elf.ET_DYN, 0x1000, 0x1000, 0x1000)
	for in, what := range map[string]string{
		" 8522\n 8523\n":             "it has no addresses",
		" 8522/8523\n":               "it has no addresses",
		" 8522 1.5: cycles:u:\n":     "it has no addresses",
		"\n\n\n":                     "it has no addresses",
		" 7f0000401010\n":            "--show-mmap-events",
		"\n\t            1010 f\n\n": "--show-mmap-events",
	} {
		_, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
		require.ErrorContains(t, err, what, in)
	}
	_, _, err := readRecords(t, b, nil, at(0x7f0000401010))
	require.ErrorContains(t, err, "as with --synth=no")
	kernel := &perfdata.Mmap{PID: perfdata.UnknownPID, Start: 0xffffffff81000000, Length: 0x1000, Executable: true, Path: "[kernel.kallsyms]_text"}
	_, _, err = readRecords(t, b, nil, kernel, at(0xffffffff81000010))
	require.ErrorContains(t, err, "only the kernel")
}

// Samples of perf script's text without names of events are of the event that the user names.
func TestEventOfUnnamedSamples(t *testing.T) {
	b := described(t, "ours", elf.ET_EXEC, 0x1000, 0x401000, 0x1000)
	for event, counts := range map[string]samples.Counts{"": samples.CountsUnknown, "cycles": samples.CountsExecution, "page-faults": samples.CountsOther} {
		_, r, err := samples.Read(strings.NewReader("     401010\n"), b, samples.Options{Event: event})
		require.NoError(t, err)
		require.Equal(t, event, r.Event)
		require.Equal(t, counts, r.Counts, event)
	}
}

// Options.Name selects the binary if neither its build ID nor its file name is in the recording.
func TestReadByName(t *testing.T) {
	b := binary(t, "vec/vec12d5")
	o := samples.Options{Name: regexp.MustCompile(`/lua12\.g$`)}
	s, _, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", "lua/lua12.cpuclock.perf.data")), b, o)
	require.NoError(t, err)
	require.Equal(t, string(testenv.CorpusData(t, "create", "lua/lua12.cpuclock.samples")), text(t, s))
	_, r, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "create", "callgrind/lua12.callgrind.out.gz")), b, samples.Options{Name: regexp.MustCompile("nothing")})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.Equal(t, uint64(248959106), r.Samples)
}

func TestReadOfOneProcess(t *testing.T) {
	b, data := binary(t, "lua/lua12.g.gz"), testenv.CorpusData(t, "create", "lua/lua12.cpuclock.perf.data")
	_, r, err := samples.Read(bytes.NewReader(data), b, samples.Options{PID: 21153})
	require.NoError(t, err)
	require.Equal(t, uint64(12932), r.Samples)
	_, r, err = samples.Read(bytes.NewReader(data), b, samples.Options{PID: 1})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.Zero(t, r.Samples)
}

func TestRecognise(t *testing.T) {
	for in, want := range map[string]samples.Format{
		"PERFILE2\x68":                     samples.PerfData,
		"2ELIFREP\x00":                     samples.PerfData,
		"# callgrind format\nversion":      samples.Callgrind,
		"version: 1\ncreator: call":        samples.Callgrind,
		"12\n8d0-8e3:8794\n":               samples.Text,
		"0":                                samples.Text,
		"12 34\n":                          samples.PerfScript,
		"[000]      5598d4df079d\n[001]":   samples.PerfScript,
		"[-01] PERF_RECORD_MMAP2 1/1: [0x": samples.PerfScript,
		"[0x40062f @ 0x400631]\n 0\n":      samples.Text,
		"[400621]\n1\n400610-400618:3\n":   samples.Text,
		"     5629ec742901 0x5629ec":       samples.PerfScript,
		"":                                 samples.PerfScript,
		"\n\t   14f02\n":                   samples.PerfScript,
		"\t          401140\n\t 4011\n":    samples.PerfScript,
		"\n\x04\x08\x01\x10\x02\n":         samples.Pprof,
		"\n\x04\n\x00\x12\x00\x12\x00":     samples.OpenTelemetry,
		"\x00\x00\x00\x06\n\x04\n\x00\x12": samples.OpenTelemetry,
	} {
		require.Equal(t, want, samples.Recognise([]byte(in)), "%q", in)
	}
}

// For an input that is not a recording, the error names what it is, also if the input is
// compressed.
func TestForeignInputs(t *testing.T) {
	b := binary(t, "vec/vec12d5")
	for input, what := range map[string]string{
		"":                "it is empty",
		"\x7fELF\x02\x01": "it is an ELF file, maybe the binary itself",
		"PERFFILE\x00":    "before Linux 3",
		"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x27": "pprof -proto",
		"--- symbol\nbinary=/bin/true\n":                           "pprof -proto",
		"gcov\x04\x00\x00\x00":                                     "a profile already",
		"{\"traceEvents\": []}":                                    "JSON",
		"main;f(int, char);g 12\nmain 3\n":                         "without addresses",
		"main;" + strings.Repeat("long_name;", 20) + "f 1":         "without addresses",
		`{"resourceProfiles": []}`:                                 "OpenTelemetry as JSON",
		"java/lang/Thread.run;a/B.c_[j] 12\n":                      "without addresses",
		"\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x10\x27": "pprof -proto",
	} {
		_, _, err := samples.Read(strings.NewReader(input), b, samples.Options{})
		require.ErrorIs(t, err, samples.ErrUnknown)
		require.ErrorIs(t, err, afdo.ErrMalformed)
		require.ErrorContains(t, err, what)
	}
}
