package samples

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/otlp"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/unpack"
)

// Read collects the samples of a binary from a recording, and reports how all samples were used.
// The input may be compressed with gzip or zstd. If it unpacks to more than 128 times its size and
// 64 MiB, the error matches afdo.ErrLimit. Pass files as *os.File: reading perf.data in file
// mode needs seeking. An input that cannot seek is copied, beyond 16 MB into a temporary file.
//
// Errors are the errors of src, afdo.FormatError, and [NoSamplesError] if the recording has no
// samples of the binary. Only with the latter is a Report returned beside the error.
func Read(src io.Reader, b *Binary, o Options) (*Set, *Report, error) {
	in, err := unwrap(src)
	if err != nil {
		return nil, nil, err
	}
	defer in.close()
	format := o.Format
	if format == Unknown {
		if what := foreign(in.head); what != "" {
			class := ErrUnknown
			if len(in.head) == 0 {
				class = ErrEmpty
			}
			return nil, nil, faultAt("samples", -1, class, "%s", what)
		}
		format = recognise(in.head)
	}
	c := choice{b, o}
	if uint(format) >= uint(len(readers)) || readers[format] == nil {
		return nil, nil, fmt.Errorf("samples: unknown format %d", format)
	}
	s, r, err := readers[format](in, c)
	return c.result(s, r, err)
}

// ReadFolder is [Read] for a recording that is a folder, such as perf record --threads writes. dir
// is the folder, for example os.DirFS(path).
func ReadFolder(dir fs.FS, b *Binary, o Options) (*Set, *Report, error) {
	if o.Format != Unknown && o.Format != PerfData {
		return nil, nil, fmt.Errorf("samples: a folder is read as perf.data, not as %v", o.Format)
	}
	c := choice{b, o}
	return c.result(readPerfFolder(dir, c))
}

// result returns its arguments, or a NoSamplesError in place of a Set that has no samples.
func (c choice) result(s *Set, r *Report, err error) (*Set, *Report, error) {
	if err == nil && s.Empty() {
		s, err = nil, &NoSamplesError{Binary: c.binary.Path, BuildID: c.buildID(), Report: r, Hint: c.hint(r)}
	}
	return s, r, err
}

// manyUnnamed: callgrind always counts some code that runs before the program without a file. If
// more than 1/manyUnnamed of all counts have no file, callgrind could not read the program's debug
// info.
const manyUnnamed = 20

// hint returns advice for the user of a recording that has no samples of the binary.
func (c choice) hint(r *Report) string {
	switch {
	case r.trace != perfdata.NoTrace:
		return r.TraceHint()
	case r.Format == PerfScript && !r.addressed:
		return "it has no addresses: print samples with perf script -F event,ip,brstack"
	case r.Samples == 0 && r.Skipped == 0:
		return "it has no samples at all"
	case r.InBinary > 0 && r.Outside == r.InBinary:
		return "the addresses of its samples are not in the code of the binary, so another build ran: give the file as it was then"
	case r.Format == Callgrind && slices.ContainsFunc(r.Objects, func(o Object) bool { return o.Name == noDebugInfo && o.Samples >= r.Samples/manyUnnamed }):
		return "callgrind writes " + noDebugInfo + " for a file whose debug info it cannot read: record a copy of the program that has the same name and no debug info (strip -g), and give the original here"
	case !c.options.HasBase && len(r.Objects) == 1 && r.Objects[0].Name == unknownName:
		return unmapped[r.Format]
	case !slices.ContainsFunc(r.Objects, func(o Object) bool { return !isKernelName(o.Name) }) && len(r.Objects) > 0:
		return "only the kernel's code was sampled: record that of programs, such as with -e cycles:u"
	case c.options.Name == nil && slices.ContainsFunc(r.Objects, func(o Object) bool { return o.BuildID != "" && c.binary.named(o.Name) }):
		return "another build of that name ran: give the file as it was then"
	case c.options.Name == nil && len(r.Objects) > 0:
		return "if one of them is the binary, choose it by name"
	}
	return ""
}

// unmapped has, for each format of recordings, the rest of the error message about a recording that
// names no file for any of its addresses: why that is so, and what the user can do.
var unmapped = map[Format]string{
	PerfData:      "it does not show which files its addresses are in: perf wrote no mappings, as with --synth=no or if the main thread of a running process has ended: record from the start of the program, or give the base address",
	PerfScript:    "it does not show which files its addresses are in: run perf script with --show-mmap-events, and with -F ip,sym,dso if it prints call chains; or give the base address",
	Pprof:         withoutMappings,
	OpenTelemetry: withoutMappings,
}

const withoutMappings = "its locations have no addresses in a file: give a profile that a profiler wrote, before a tool removed them"

// recognise returns the format of an uncompressed input, by its first bytes. Text of no other
// format is taken for perf script's, and other binary data for a pprof profile.
func recognise(head []byte) Format {
	whole, _, _ := bytes.Cut(head, []byte("\n"))
	line := bytes.TrimSpace(whole)
	indented := len(line) > 0 && line[0] != whole[0] // as addresses of perf script are, which may have decimal digits alone
	_, digits, _ := lines.Number(line, 10)
	switch {
	case perfdata.IsMagic(head):
		return PerfData
	case bytes.HasPrefix(head, []byte("# callgrind format")), bytes.HasPrefix(head, []byte("version: ")), bytes.HasPrefix(head, []byte("creator: callgrind")):
		return Callgrind
	case isProcessor(whole):
		return PerfScript
	case digits > 0 && digits == len(line) && !indented, bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("[")):
		return Text
	case isPreAggregated(line):
		return PreAggregated
	case otlp.Begins(head):
		return OpenTelemetry
	case bytes.IndexFunc(head, isControl) >= 0:
		return Pprof
	}
	return PerfScript
}

// isProcessor reports whether a line begins with the number of a processor, such as "[000] ", as
// perf script prints it with -F cpu. Lines that name a calling context also begin with a bracket,
// but nothing follows the closing bracket.
func isProcessor(line []byte) bool {
	inside, more, ok := bytes.Cut(line, []byte("] "))
	inside, open := bytes.CutPrefix(inside, []byte("["))
	inside = bytes.TrimPrefix(inside, []byte("-")) // -1 is not known
	_, digits, _ := lines.Number(inside, 10)
	return ok && open && digits > 0 && digits == len(inside) && len(more) > 0
}

// strangers lists files that users mistake for recordings: their first bytes, and what they are.
var strangers = []struct{ magic, what string }{
	{elf.ELFMAG, "it is an ELF file, maybe the binary itself"},
	{"PERFFILE", "it is perf.data of before Linux 3"},
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00", gperftools},
	{"\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00", gperftools},
	{"--- ", "it is of pprof's old format: make the new one of it, with pprof -proto BIN FILE"},
	{"heap profile:", "it is a heap profile"},
	{"gcov", "it is a profile already, of GCC"},
	{"adcg", "it is a profile already, of GCC"},
	{"gcda", "it is a profile already, of GCC"},
	{"\x81rforpl\xff", "it is a raw profile of LLVM, which counts by itself"},
	{"\xfflprofi\x81", "it is a profile already, of LLVM"},
	{`{"resourceProfiles"`, "it is a profile of OpenTelemetry as JSON: have it written as protocol buffers, as the collector's file exporter does with \"format: proto\""},
	{"{", "it is JSON"},
	{"desc: --massif", "it is a profile of memory by valgrind's massif: use --tool=callgrind --dump-instr=yes"},
	{"desc: ", cachegrind},
	{"cmd: ", cachegrind},
	{"\xfd7zXZ\x00", "it is compressed with xz" + unpackFirst},
	{"BZh", "it is compressed with bzip2" + unpackFirst},
	{"\x04\x22\x4d\x18", "it is compressed with lz4" + unpackFirst},
	{"LZIP", "it is compressed with lzip" + unpackFirst},
	{"\x5d\x00\x00", "it is compressed with lzma" + unpackFirst},
	{"\x1f\x9d", "it is compressed with compress" + unpackFirst},
	{"\xff\x06\x00\x00sNaPpY", "it is compressed with snappy" + unpackFirst},
	{"PK\x03\x04", "it is a zip archive" + unpackFirst},
	{"7z\xbc\xaf\x27\x1c", "it is a 7z archive" + unpackFirst},
	{"gmon", "it is gmon.out of gprof, which counts by itself: record with perf or afdo record"},
	{"FLR\x00", "it is a recording of Java's flight recorder, whose code is not in a file"},
	{"SIMPLEPERF", "it is a report of simpleperf: give the perf.data that it was made of"},
	{"\x81rforpm\xff", "it is a raw memory profile of LLVM: afdo show --binary BIN reads it"},
}

const (
	unpackFirst = ": unpack it first; afdo reads gzip and zstd"
	gperftools  = "it is a CPU profile of gperftools: make pprof's format of it, with pprof -proto BIN FILE"
	cachegrind  = "it is of cachegrind, which counts lines, not addresses: use valgrind --tool=callgrind --dump-instr=yes"
)

// foreign returns a description of a file that is no recording, such as an ELF file. head are the
// first bytes of the file. It returns "" if the file may be a recording.
func foreign(head []byte) string {
	if len(head) == 0 {
		return "it is empty; with --separate-threads=yes, valgrind writes the threads to files of their own, such as callgrind.out.PID-01"
	}
	const ustar = 257
	if len(head) > ustar+5 && string(head[ustar:ustar+5]) == "ustar" {
		return "it is a tar archive" + unpackFirst
	}
	for _, s := range strangers {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return s.what
		}
	}
	if line, _, whole := bytes.Cut(head, []byte("\n")); isFolded(line, whole) {
		return "it is call stacks by names, as flame graphs have them, without addresses: give the recording that they were made of, perf.data, the text of perf script or pprof's format"
	}
	return ""
}

// isFolded reports whether a line is a call stack of names and a count, such as "main;f 12". If
// whole is false, line is only the beginning of the line. In perf script's text, a blank comes
// before a semicolon and a slash, as in the names of Java's classes.
func isFolded(line []byte, whole bool) bool {
	names, count, _ := bytes.Cut(line, []byte(";"))
	if len(count) == 0 || bytes.IndexFunc(line, isControl) >= 0 || len(names) == 0 || bytes.ContainsAny(names, " \t") && bytes.ContainsAny(names, "/\t") {
		return false
	}
	last := count[bytes.LastIndexByte(count, ' ')+1:]
	_, digits, _ := lines.Number(last, 10)
	return !whole || digits > 0 && digits == len(last)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

const (
	headSize = 512

	// maxRatio and maxFree limit decompression, so that a small file cannot take much time.
	// Decompression stops when the data is longer than maxFree, and more than maxRatio times as
	// long as its compressed form. Real recordings shrink to a fiftieth at most: text of perf
	// script with branch stacks.
	maxRatio = 128
	maxFree  = 64 << 20
)

// An input is a recording that Read reads, decompressed if necessary.
type input struct {
	io.Reader
	head     []byte // the first bytes of Reader
	closes   []func()
	source   io.Reader       // the original recording, if it is not compressed; else nil
	consumed *unpack.Counter // of source
	bounded  *boundedReader  // limits the decompressed data, nil if there is no compression
}

func (in *input) close() {
	for _, f := range in.closes {
		f()
	}
}

// readAll reads a whole recording into memory. Decompression stops when the data is longer than
// free and more than ratio times as long as its compressed form.
func (in *input) readAll(ratio, free int64) ([]byte, error) {
	if in.bounded != nil {
		in.bounded.ratio, in.bounded.free = ratio, free
	}
	return io.ReadAll(in)
}

// unwrap detects whether a recording is compressed, and returns its decompressed data.
func unwrap(src io.Reader) (*input, error) {
	in := &input{}
	compressed := &unpack.Counter{R: src}
	r := bufio.NewReaderSize(compressed, headSize)
	head, err := r.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	plain, _, err := unpack.Decompress(head, r)
	if err != nil {
		return nil, compressionError(err)
	}
	if plain == nil {
		in.Reader, in.head, in.source, in.consumed = r, bytes.Clone(head), src, compressed
		return in, nil
	}
	in.closes = append(in.closes, func() { _ = plain.Close() })
	in.bounded = &boundedReader{r: plain, compressed: compressed, ratio: maxRatio, free: maxFree}
	inner := bufio.NewReaderSize(in.bounded, 64<<10)
	head, err = inner.Peek(headSize)
	if err != nil && err != io.EOF {
		in.close()
		return nil, err
	}
	in.Reader, in.head = inner, bytes.Clone(head)
	return in, nil
}

// A boundedReader reads decompressed data. It returns an error if the data exceeds a multiple of
// its compressed size.
type boundedReader struct {
	r          io.Reader
	compressed *unpack.Counter
	n          int64

	ratio, free int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.n > b.free+b.ratio*b.compressed.N {
		return 0, faultAt("samples", b.n, fault.ErrLimit,
			"%d compressed bytes unpack to more than %d times their size and %d MiB: unpack the recording first", b.compressed.N, b.ratio, b.free>>20)
	}
	if err != nil && err != io.EOF {
		err = compressionError(err)
	}
	return n, err
}

// compressionError converts the error of a decompressor to an afdo.FormatError. It returns errors
// of reading the compressed input unchanged.
func compressionError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return err
	}
	return faultAt("samples", -1, fault.ErrCompressed, "%v", err)
}

// A Format is a file format of recordings.
type Format int

// The formats that [Read] recognises.
const (
	Unknown    Format = iota
	PerfData          // what perf record writes
	Callgrind         // callgrind.out of valgrind --tool=callgrind --dump-instr=yes
	Text              // address samples as text, see [Parse]
	Pprof             // a CPU profile as protocol buffer
	PerfScript        // the text of perf script

	PreAggregated // the text that perf2bolt --pa takes
	OpenTelemetry // profiles of OpenTelemetry's protocol, as protocol buffers
)

var formatNames = [...]string{
	Unknown: "unknown", PerfData: "perf.data", Callgrind: "callgrind", Text: "address samples", Pprof: "pprof", PerfScript: "perf script",
	PreAggregated: "pre-aggregated", OpenTelemetry: "OpenTelemetry",
}

func (f Format) String() string { return formatNames[f] }

// readers contains the function that collects the samples of an input, by its format.
var readers = [...]func(*input, choice) (*Set, *Report, error){
	PerfData: (*input).perfData, Callgrind: readCallgrind, Text: readText, Pprof: readPprof, PerfScript: readPerfScript,
	PreAggregated: readPreAggregated, OpenTelemetry: readOTLP,
}

// maxMemory is the largest number of bytes of an input without seeking that are held in memory. A
// larger input is copied into a temporary file.
const maxMemory = 16 << 20

// perfData collects the samples of a perf.data file. Unless the file is in pipe mode, it is made
// seekable first.
func (in *input) perfData(c choice) (*Set, *Report, error) {
	const pipeHeader = 16
	if size := headerSize(in.head); size != pipeHeader {
		seekable, err := in.seekable()
		if err != nil {
			return nil, nil, err
		}
		return readPerfData(seekable, c)
	}
	return readPerfData(in, c)
}

// headerSize returns the lowest byte of the header size, which is a field at the beginning of a
// perf.data file. head is the beginning of the file.
func headerSize(head []byte) byte {
	if len(head) < 16 {
		return 0
	}
	return head[8] | head[15] // one of them is zero, whatever the byte order
}

// seekable returns the recording as a reader that can seek: the input itself, a copy in memory, or
// a temporary file that is removed when the input is closed.
func (in *input) seekable() (io.Reader, error) {
	if file, ok := in.source.(io.ReadSeeker); ok {
		if _, err := file.Seek(-in.consumed.N, io.SeekCurrent); err == nil {
			return file, nil
		}
	}
	var start bytes.Buffer
	if _, err := io.CopyN(&start, in, maxMemory); err == io.EOF {
		return bytes.NewReader(start.Bytes()), nil
	} else if err != nil {
		return nil, err
	}
	file, err := files.CreateTemp("", "afdo-perf-data-*")
	if err != nil {
		return nil, err
	}
	in.closes = append(in.closes, func() { _ = file.Close() })
	if _, err := io.Copy(file, io.MultiReader(&start, in)); err != nil {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}
