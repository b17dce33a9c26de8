//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// An amplified is a small file that makes a careless reader use much memory or time, with the
// command lines that read it. It is valid or nearly so.
type amplified struct {
	name  string
	make  func(*testing.T) []byte
	lines []string
}

// The command lines to run on an amplified file, one list for each kind of file. FILE stands for
// its path.
var (
	gcovLines = []string{
		"show FILE", "show FILE --json", "units FILE", "lookup FILE -u hostile.c", "lookup FILE -u hostile.c --json",
		"lookup FILE -s f", "lookup FILE -s nonsense", "lookup FILE -u nonsense",
		"convert FILE --to text -o OUT", "convert FILE --to v4c -o OUT", "convert FILE --to v4 --index -o OUT",
		"convert FILE --to v3 -o OUT", "convert FILE --to v2 -o OUT", "convert FILE --to extbinary -o OUT",
		"convert FILE --to sampletext -o OUT", "check FILE", "top FILE", "top FILE --calls", "annotate FILE -u hostile.c",
		"pprof FILE -o OUT", "report FILE -o OUT", "slice FILE --unit hostile.c --to v2 -o OUT",
		"fingerprint FILE", "index FILE -o OUT", "merge FILE FILE --to v4 -o OUT", "diff FILE FILE",
	}
	// gcovFewLines and sampleFewLines run only some verbs. They are for files whose contents are
	// tested with all verbs in another format or compression.
	gcovFewLines = []string{
		"show FILE", "lookup FILE -u hostile.c", "convert FILE --to v4c -o OUT", "check FILE",
		"slice FILE --unit hostile.c --to v2 -o OUT", "merge FILE FILE --to v4 -o OUT",
	}
	sampleFewLines = []string{
		"show FILE", "lookup FILE -s f", "convert FILE --to sampletext -o OUT", "check FILE", "merge FILE FILE --to extbinary -o OUT",
	}
	sampleLines = []string{
		"show FILE", "lookup FILE -s f", "lookup FILE -s f --json", "convert FILE --to sampletext -o OUT",
		"convert FILE --to extbinary -o OUT", "convert FILE --to extbinary --compress --split-layout -o OUT",
		"convert FILE --to v4 -o OUT", "check FILE", "top FILE", "top FILE --calls", "pprof FILE -o OUT", "report FILE -o OUT",
		"merge FILE FILE --to extbinary -o OUT", "diff FILE FILE",
	}
	instrLines = []string{
		"show FILE", "lookup FILE -s f", "convert FILE --to proftext -o OUT", "convert FILE --to profdata -o OUT",
		"check FILE", "top FILE", "merge FILE FILE --to profdata -o OUT", "diff FILE FILE",
	}
	memLines = []string{
		"show FILE", "lookup FILE -s f", "convert FILE --to yaml -o OUT", "convert FILE --to memprof -o OUT",
		"check FILE", "top FILE", "pprof FILE -o OUT", "merge FILE FILE --to memprof -o OUT",
	}
	memRawLines = []string{
		"show FILE", "check FILE", "lookup FILE -s f --binary ../../symbolize/testdata/tiny5.so",
		"convert FILE --to yaml -o OUT --binary ../../symbolize/testdata/tiny5.so",
		"merge FILE FILE --to memprof -o OUT --binary ../../symbolize/testdata/tiny5.so",
	}
	binaryLines = []string{
		"create --binary FILE --profile SAMPLES --allow-poor --to v4 -o OUT",
		"create --binary FILE --profile SAMPLES --allow-poor --to extbinary -o OUT",
		"lookup MEMORY -s f --binary FILE", "convert MEMORY --to yaml -o OUT --binary FILE",
	}
	createLines = []string{
		"create --binary ../../symbolize/testdata/tiny5.so --profile FILE --to v4 -o OUT",
		"create --binary ../../symbolize/testdata/tiny5.so --profile FILE --profile FILE --to samples -o OUT",
	}
)

// amplifying returns the amplified files of all kinds, with the command lines to run on each.
func amplifying() []amplified {
	return []amplified{
		{"shared-table", func(*testing.T) []byte { return sharedTable(30_000, 1_000, 200) }, gcovLines},
		{"huge-names", func(*testing.T) []byte { return gen.HugeNames(20_000, 50_000, false) }, gcovLines},
		{"named-alike", func(*testing.T) []byte { return namedAlike(30_000, 20_000) }, gcovLines},
		{"shared-info", func(t *testing.T) []byte { return sharedInfo(t, 10_000, 10_000) }, gcovLines},
		{"nested", func(*testing.T) []byte { return gen.Nested(400_000, true) }, gcovLines},
		{"nested-normal", func(*testing.T) []byte { return gen.Nested(400_000, false) }, gcovFewLines},
		{"nested-text", func(t *testing.T) []byte { return nestedText(t, 200_000) }, gcovLines},
		{"nested-v3", func(t *testing.T) []byte { return nestedOld(t, 100_000) }, gcovLines},
		{"trie-chain", func(*testing.T) []byte { return gen.TrieChain(400_000, true) }, gcovLines},
		{"many-units", func(*testing.T) []byte { return sharedTable(20_000, 1, 1) }, gcovLines},
		{"gzip-nested", func(t *testing.T) []byte { return gzipped(t, gen.Nested(500_000, true)) }, gcovFewLines},
		{"zstd-nested", func(t *testing.T) []byte { return zstandard(t, gen.Nested(500_000, true)) }, gcovFewLines},
		{"seekable-nested", func(t *testing.T) []byte { return compress(t, gen.Nested(500_000, true)) }, gcovFewLines},
		{"seekable-names", func(t *testing.T) []byte { return compress(t, gen.HugeNames(20_000, 50_000, false)) }, gcovFewLines},

		{"llvm-nested", func(t *testing.T) []byte { return llvmSamples(t, nestedProfile(100_000)) }, sampleLines},
		{"llvm-targets", func(t *testing.T) []byte { return samplesOf(t, denseTargets(100_000), sampleprof.WriteOptions{}) }, sampleLines},
		{"llvm-lines", func(t *testing.T) []byte { return samplesOf(t, denseLines(200_000), sampleprof.WriteOptions{}) }, sampleLines},
		{"llvm-packed", func(t *testing.T) []byte {
			return samplesOf(t, denseLines(400_000), sampleprof.WriteOptions{Compress: true})
		}, sampleFewLines},
		{"llvm-text", func(*testing.T) []byte { return []byte(denseLines(100_000)) }, sampleLines},
		{"llvm-contexts", func(*testing.T) []byte { return []byte(contexts(4_000, 20)) }, sampleLines},
		{"instr-counters", func(*testing.T) []byte { return counters(1, 500_000) }, instrLines},
		{"instr-functions", func(*testing.T) []byte { return counters(50_000, 1) }, instrLines},
		{"instr-alike", func(*testing.T) []byte { return alike(100_000) }, instrLines},
		{"raw-shared", func(*testing.T) []byte { return gen.SharedCounters(6_000, 40_000, 0) }, instrLines},
		{"raw-shared-some", func(*testing.T) []byte { return gen.SharedCounters(9, 700_000, 0) }, instrLines},
		{"raw-shared-bytes", func(*testing.T) []byte { return gen.SharedCounters(1, 1_500_000, 1<<60) }, instrLines},
		{"raw-shared-bits", func(*testing.T) []byte { return gen.SharedBitmap(6_000, 300_000) }, instrLines},
		{"raw-bits", func(*testing.T) []byte { return gen.SharedBitmap(1, 3_000_000) }, instrLines},
		{"raw-functions", func(*testing.T) []byte { return gen.SharedCounters(100_000, 1, 0) }, instrLines},
		{"raw-dumps", func(*testing.T) []byte { return bytes.Repeat(gen.SharedCounters(2, 64, 0), 10_000) }, instrLines},
		{"mem-raw-segments", func(*testing.T) []byte { return gen.RawMemory(1, 1, 200_000, 1) }, memRawLines},
		{"mem-raw-stacks", func(*testing.T) []byte { return gen.RawMemory(20_000, 20, 1, 1) }, memRawLines},
		{"mem-frames", func(t *testing.T) []byte { return sharedFrames(t, 1_000, 2_000) }, memLines},

		{"elf-abbrevs", func(*testing.T) []byte { return gen.SharedAbbrevs(12_000, 40_000, false) }, binaryLines},
		{"elf-abbrevs-apart", func(*testing.T) []byte { return gen.SharedAbbrevs(12_000, 40_000, true) }, binaryLines},
		{"elf-compressed", func(t *testing.T) []byte { return compressedSections(t, 15<<20) }, binaryLines},
		{"elf-lines", func(*testing.T) []byte { return gen.SharedLines(10_000, 500_000) }, binaryLines},
		{"elf-files", func(*testing.T) []byte { return gen.SharedFiles(10_000, 80_000) }, binaryLines},
		{"elf-rows", func(*testing.T) []byte { return gen.ManyRows(3_000_000) }, binaryLines},
		{"elf-vague", func(*testing.T) []byte { return gen.VagueUnits(20_000, 20_000) }, binaryLines},
		{"elf-ranges", func(*testing.T) []byte { return gen.SharedRanges(50_000, 30_000) }, binaryLines},
		{"elf-names", func(*testing.T) []byte { return gen.LongNames(10_000, 300_000, false) }, binaryLines},
		{"elf-symbols", func(*testing.T) []byte { return gen.LongNames(10_000, 300_000, true) }, binaryLines},
		{"elf-folder", func(*testing.T) []byte { return gen.LongFolder(10_000, 300_000) }, binaryLines},
		{"elf-deep", func(*testing.T) []byte { return gen.DeepInlining(30_000) }, binaryLines},
		{"elf-aliases", func(*testing.T) []byte { return gen.Aliases(15_000) }, binaryLines},

		{"callgrind", func(*testing.T) []byte { return callgrindLines(400_000) }, createLines},
		{"callgrind-names", func(*testing.T) []byte { return callgrindNames(100_000) }, createLines},
		{"perf-script", func(*testing.T) []byte { return perfScript(50_000) }, createLines},
		{"samples-text", func(*testing.T) []byte { return sampleText(100_000) }, createLines},
		{"pprof-packed", func(t *testing.T) []byte { return pprofSamples(t, 1_000_000) }, createLines},
		{"otlp-locations", func(*testing.T) []byte { return otlpLocations(500_000, 0) }, createLines},
		{"otlp-packed", func(t *testing.T) []byte { return gzipped(t, otlpLocations(1_400_000, 0)) }, createLines},
		{"otlp-calls", func(*testing.T) []byte { return otlpLocations(400_000, 1_000_000) }, createLines},
		{"perf-data", func(*testing.T) []byte { return perfRecording(30_000, perfgen.None) }, createLines},
		{"perf-data-zstd", func(*testing.T) []byte { return perfRecording(30_000, perfgen.Compressed) }, createLines},
	}
}

// gzipped compresses data as well as can be.
func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zstandard(t *testing.T, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

// namedAlike returns a file whose only unit has n symbols with the same name, of the given length.
func namedAlike(n, name int) []byte {
	l := gen.Layout{Compact: true, Summary: 0, FileNames: 1}
	l.Add(gen.Section{Type: naive.SummaryInfo, Compact: true, Data: make([]byte, 6)})
	e := &gen.Enc{Compact: true}
	e.U32(1)
	e.U32(uint32(len(gen.HostilePath) + 1))
	e.String(gen.HostilePath + "\x00")
	for _, v := range []uint32{2, 3, 0, uint32(n)} {
		e.U32(v)
	}
	l.Add(gen.Section{Type: naive.FileNames, Compact: true, Data: e.Buf})
	e = &gen.Enc{Compact: true}
	e.U32(1)
	e.U8(1)
	e.U16(uint16(name))
	e.String(strings.Repeat("x", name))
	e.U8(0x80)
	e.U32(0)
	l.Add(gen.Section{Type: naive.StringTable, Compact: true, Data: e.Buf})
	e = &gen.Enc{Compact: true}
	e.U32(uint32(n))
	for id := range uint32(n) {
		e.U32(0)
		e.U32(id)
		e.U32(naive.NoInfo)
	}
	l.Add(gen.Section{Type: naive.SymbolNames, Compact: true, Data: e.Buf})
	return l.Bytes()
}

// samplesOf converts the text of a sample profile to ExtBinary.
func samplesOf(t *testing.T, text string, o sampleprof.WriteOptions) []byte {
	p, err := sampleprof.ParseTextBytes([]byte(text))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&file, p, o))
	return file.Bytes()
}

func denseTargets(n int) string {
	var b strings.Builder
	b.WriteString("f:9:1\n 1: 9")
	for i := range n {
		fmt.Fprintf(&b, " %x:1", i)
	}
	return b.String() + "\n"
}

func denseLines(n int) string {
	var b strings.Builder
	b.WriteString("f:9:1\n")
	for i := range n {
		fmt.Fprintf(&b, " %d: 1\n", i%60_000)
		if i%60_000 == 59_999 {
			fmt.Fprintf(&b, "f%x:9:1\n", i)
		}
	}
	return b.String()
}

// contexts returns the text of a sample profile with n calling contexts of the given number of
// frames.
func contexts(n, frames int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("[main:1")
		for k := range frames {
			fmt.Fprintf(&b, " @ f%d:%d", k, i)
		}
		b.WriteString(" @ f]:1:1\n 1: 1\n")
	}
	return b.String()
}

// counters returns the text of an instrumentation profile of LLVM, with the given number of
// functions and of counters in each.
func counters(functions, each int) []byte {
	var b bytes.Buffer
	b.WriteString(":ir\n")
	for i := range functions {
		fmt.Fprintf(&b, "f%x\n1\n%d\n%s\n", i, each, strings.Repeat("1\n", each))
	}
	return b.Bytes()
}

// alike returns the text of an instrumentation profile of LLVM, in which n functions have the same
// name.
func alike(n int) []byte {
	var b bytes.Buffer
	b.WriteString(":ir\n")
	for i := range n {
		fmt.Fprintf(&b, "f\n%d\n1\n1\n", i)
	}
	return b.Bytes()
}

// sharedFrames returns a memory profile of n stacks of a depth, which share all but their first
// frame.
func sharedFrames(t *testing.T, n, depth int) []byte {
	p := new(memprof.Profile)
	deep := make([]memprof.Frame, depth)
	for i := range deep {
		deep[i].Function = uint64(i % 7)
	}
	for i := range n {
		deep[0].Function = uint64(i + 100)
		p.AddRecord(memprof.DefaultSchema(), memprof.Record{Function: uint64(i), Calls: []memprof.Call{{Stack: p.Stack(deep)}}})
	}
	section := func(offset int64) ([]byte, error) { return p.Section(3, offset) }
	var file bytes.Buffer
	require.NoError(t, new(instrprof.Profile).WriteIndexed(&file, instrprof.IndexedOptions{MemProf: section}))
	return file.Bytes()
}

// compressedSections returns a binary whose debug info is in compressed sections, each of which
// decompresses to size bytes.
func compressedSections(t *testing.T, size int) []byte {
	var e gen.ELF
	e.Function("f", 0x1000, 16)
	head := append(words([]uint64{1, uint64(size), 1}), zlibbed(t, make([]byte, size))...)
	for _, name := range []string{"info", "abbrev", "line", "ranges", "str", "line_str", "rnglists", "addr", "str_offsets"} {
		e.Sections = append(e.Sections, gen.ELFSection{Name: ".debug_" + name, Type: gen.ELFBits, Flags: gen.ELFCompressed, Data: head})
	}
	return e.Bytes()
}

func zlibbed(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func words(list []uint64) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func callgrindLines(n int) []byte {
	head := "# callgrind format\nversion: 1\npositions: instr line\nevents: Ir\n\nob=(1) tiny5.so\nfl=(1) a\nfn=(1) f\n0x1000 1 1\n"
	return []byte(head + strings.Repeat("+1 * 1\n", n))
}

func callgrindNames(n int) []byte {
	var b bytes.Buffer
	b.WriteString("# callgrind format\nversion: 1\npositions: instr line\nevents: Ir\n\nob=(1) tiny5.so\n")
	for i := range n {
		fmt.Fprintf(&b, "fn=(%d) %x\n0x1000 1 1\n", i+1, i)
	}
	return b.Bytes()
}

func perfScript(n int) []byte {
	var b bytes.Buffer
	b.WriteString("prog 1 1.000000: PERF_RECORD_MMAP2 1/1: [0x0(0x40000000) @ 0 08:01 1 1]: r-xp /tmp/tiny5.so\n")
	for i := range n {
		fmt.Fprintf(&b, "%x", i)
		for k := range 16 {
			fmt.Fprintf(&b, " 0x%x/0x%x/P/-/-/1", 16*i+k, 16*i+k+99)
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

func sampleText(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", n)
	for i := range n {
		fmt.Fprintf(&b, "%x-%x:1\n", i, i+1)
	}
	fmt.Fprintf(&b, "%d\n", n)
	for i := range n {
		fmt.Fprintf(&b, "%x:1\n", i)
	}
	b.WriteString("0\n")
	return b.Bytes()
}

// pprofSamples returns a CPU profile of many samples of one place, which compress to little.
func pprofSamples(t *testing.T, n int) []byte {
	var b bytes.Buffer
	b.WriteString("\x0a\x02\x08\x00")
	b.WriteString("\x1a\x08\x08\x01\x10\x80\x20\x18\x80\x40")            // a map from 4096 to 8192
	b.WriteString("\x22\x07\x08\x01\x10\x01\x18\x90\x20")                // a location in it
	b.WriteString(strings.Repeat("\x12\x06\x0a\x01\x01\x12\x01\x01", n)) // samples there
	b.WriteString("\x32\x00")
	return gzipped(t, b.Bytes())
}

// otlpLocations returns an OpenTelemetry profile with n locations and one sample. Its stack has
// deep locations, taken alternately from the front and the back.
func otlpLocations(n, deep int) []byte {
	message := func(b []byte, field byte, m []byte) []byte {
		return append(binary.AppendUvarint(append(b, field<<3|2), uint64(len(m))), m...)
	}
	var stack []byte
	for i := range deep {
		if i%2 == 1 {
			i = n - 1 - i
		}
		stack = binary.AppendUvarint(stack, uint64(i)%uint64(n))
	}
	b := message(nil, 1, message(nil, 2, message(nil, 2, message(nil, 2, []byte("\x08\x01\x22\x01\x01")))))
	d := message(message(nil, 5, nil), 5, []byte("/tiny5.so"))
	d = message(message(d, 1, nil), 1, []byte("\x08\x80\x20\x10\x80\x80\x80\x01\x20\x01"))
	d = message(message(d, 7, nil), 7, message(nil, 1, stack))
	for i := range n {
		if deep == 0 {
			d = append(d, 2<<3|2, 0)
			continue
		}
		d = message(d, 2, binary.AppendUvarint([]byte("\x08\x01\x10"), uint64(4096+i)))
	}
	return message(b, 2, d)
}

// perfRecording returns a recording of many programs with a map each, and of samples that share
// their branches.
func perfRecording(n int, c perfgen.Compression) []byte {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, SampleIDAll: true, IDs: []uint64{3}}
	f := perfgen.File{Pipe: true, Compression: c, Events: []perfgen.Event{event}}
	branches := make([]perfdata.Branch, 32)
	for i := range int32(n) {
		f.Records = append(f.Records, &perfdata.Mmap{PID: i, TID: i, Time: uint64(i), Start: 4096, Length: 1 << 20, Executable: true, Path: "/tiny5.so"})
		if i%10 == 0 {
			for k := range branches {
				branches[k] = perfdata.Branch{From: uint64(4096 + int(i) + k), To: uint64(8192 + int(i) + 2*k)}
			}
			f.Records = append(f.Records, &perfdata.Sample{PID: i, TID: i, Time: uint64(i), IP: 4100, Branches: append([]perfdata.Branch(nil), branches...)})
		}
	}
	return f.Bytes()
}
