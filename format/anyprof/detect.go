package anyprof

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/otlp"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/unpack"
)

// HeadLen is the number of bytes at the start of a file that [Detect] needs.
const HeadLen = unpack.HeadLen

// ErrUnknown: the file has none of the supported formats.
var ErrUnknown = errors.New("not a profile")

// ErrEmpty: the file is empty or has only blanks and comments. It matches [ErrUnknown]. LLVM's
// tools leave such files when they are killed.
var ErrEmpty = fmt.Errorf("%w: it is empty", ErrUnknown)

// Detect determines the format of an uncompressed file from its first [HeadLen] bytes, or from the
// whole file if it is shorter. A file with an unsupported version has the format of the supported
// versions. An error matches [ErrUnknown] and describes the file, if possible.
//
// Some formats cannot be distinguished by the first bytes. Detect then returns one of them: [V4]
// for both encodings of GCOV version 4, and [ExtBinary] for both of LLVM's binary sample profiles.
func Detect(head []byte) (Format, error) {
	for _, detect := range [...]func([]byte) Format{detectLLVMText, detectGCC, detectSample, detectMemory, detectInstr} {
		if f := detect(head); f != 0 {
			return f, nil
		}
	}
	if strings.TrimSpace(string(head)) == "" {
		return 0, ErrEmpty
	}
	return 0, fmt.Errorf("%w: %s", ErrUnknown, describe(head))
}

// DetectBytes is like [Detect] for a whole file in memory. If a text begins with comments or long
// names, it looks at more than the first [HeadLen] bytes.
func DetectBytes(data []byte) (Format, error) {
	f := File{at: bytes.NewReader(data), size: int64(len(data))}
	err := f.readHead(context.Background())
	return f.format, err
}

// detectLLVMText detects LLVM's sample and instrumentation profiles in text form. It is tried
// before other formats, because such a text begins with the name of a function, which may be
// gcov_exit or a=b. A file with a NUL among its first 8 bytes is no such text. All files of GCOV
// versions 2 to 4 have a NUL there.
func detectLLVMText(head []byte) Format {
	isText := bytes.IndexByte(head[:min(len(head), 8)], 0) < 0
	for _, f := range [...]Format{detectInstr(head), detectSample(head)} {
		if isText && (f == ProfText || f == SampleText) {
			return f
		}
	}
	return 0
}

func detectGCC(head []byte) Format {
	switch {
	case gcda.IsCounters(head) && !isOldSample(head):
		return GCDA
	case hasMagic(head, "gcov"):
		return V4
	case isOldSample(head):
		return 0
	case hasMagic(head, "adcg"), hasMagic(head, "gcda"):
		if h, err := gcov.DecodeHeader(head); err == nil && h.Version == 2 {
			return V2
		}
		return V3
	case looksLikeText(head):
		return Text
	}
	return 0
}

func hasMagic(head []byte, magic string) bool { return strings.HasPrefix(string(head), magic) }

// isOldSample reports whether the file is a sample profile in the GCC format that LLVM once used.
// Such a file has the same first words as a .gcda file of GCC 4.7. But its fourth word is the tag
// of the list of names.
func isOldSample(head []byte) bool {
	const namesTag = 0xaa000000
	return hasMagic(head, "adcg*704") && len(head) >= 16 && binary.LittleEndian.Uint32(head[12:]) == namesTag
}

// looksLikeText reports whether a file begins like the text form of GCOV profiles: with a keyword
// and "=", or with the name of a symbol. The file may still turn out to be no such text when it is
// parsed.
func looksLikeText(head []byte) bool {
	text := strings.TrimLeft(string(head), " \t\r\n\v\f")
	if text == "" {
		return len(head) == HeadLen // only blanks so far, but the file continues
	}
	keyword := len(text) - len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz0123456789_"))
	if keyword == 0 {
		return text[0] == '"'
	}
	return strings.HasPrefix(strings.TrimLeft(text[keyword:], " \t\r\n\v\f"), "=")
}

func detectSample(head []byte) Format {
	switch sampleprof.Detect(head) {
	case sampleprof.ExtBinary, sampleprof.Binary:
		return ExtBinary
	case sampleprof.Text:
		return SampleText
	}
	return 0
}

func detectMemory(head []byte) Format {
	switch {
	case hasMagic(head, memprof.RawMagic):
		return MemProfRaw
	case isIndexedMemory(head):
		return MemProf
	case isYAML(head):
		return MemProfYAML
	}
	return 0
}

// isIndexedMemory reports whether a file is an indexed profile that has a MemProf section and no
// functions. For that, it checks the flags in the header and the number of functions in the
// summary.
func isIndexedMemory(head []byte) bool {
	const hasMemProf, versionWord, summaryHead = 1 << 62, 8, 16
	if !hasMagic(head, instrprof.Magic) || len(head) < versionWord+8 {
		return false
	}
	word := binary.LittleEndian.Uint64(head[versionWord:])
	functions := 48 + summaryHead
	for _, added := range [...]uint32{9, 10, 12} { // versions whose header has another word
		if uint32(word) >= added {
			functions += 8
		}
	}
	return word&hasMemProf != 0 && (len(head) < functions+8 || binary.LittleEndian.Uint64(head[functions:]) == 0)
}

func isYAML(head []byte) bool {
	return !strings.Contains(string(head), "\x00") && slices.ContainsFunc([]string{"# MemProfSummary:", "HeapProfileRecords:", "DataAccessProfiles:"},
		func(key string) bool { return strings.Contains(string(head), key) })
}

func detectInstr(head []byte) Format {
	switch instrprof.Detect(head) {
	case instrprof.FormatIndexed:
		return ProfData
	case instrprof.FormatRaw:
		return ProfRaw
	case instrprof.FormatText:
		return ProfText
	}
	return 0
}

// others has the magic numbers of files that users mistake for profiles, such as executables, with
// a description of each.
var others = [...]struct{ magic, what string }{
	{"\xfd7zXZ\x00", "it is compressed with xz"},
	{"BZh", "it is compressed with bzip2"},
	{"PERFILE2", "it is a recording of perf" + fromRecording},
	{"\x7fELF", "it is an ELF file"},
}

const fromRecording = `, from which "afdo create" makes profiles`

// recordings has the beginnings of recordings in text form, such as the output of perf script, with
// a description of each.
var recordings = [...]struct {
	begin func() *regexp.Regexp
	what  string
}{
	{pattern.Of(`^# callgrind format|^(version: \d+\n)?creator: callgrind`), "it is a recording of callgrind"},
	{pattern.Of(`^(\S.{0,15} +-?\d+(/\d+)? +(\[\d+\] +)?\d+\.\d+: +)?PERF_RECORD_[A-Z]`), "it is text of perf script"},
	{pattern.Of(`^ *\S.{0,15} +-?\d+(/\d+)? +(\[\d+\] +)?\d+\.\d+: `), "it is text of perf script"},
	{pattern.Of(`^(\d+\n)+([0-9a-f]+-[0-9a-f]+|[0-9a-f]+(->[0-9a-f]+)?):\d+\n`), "it is a text of address samples"},
}

func describe(head []byte) string {
	if isOldSample(head) {
		return `it is a sample profile in LLVM's old format "adcg*704": llvm-profdata merge --sample --extbinary makes one of it that is read`
	}
	for _, k := range others {
		if hasMagic(head, k.magic) {
			return k.what
		}
	}
	if isPprof(head) {
		return "it is a recording of pprof" + fromRecording
	}
	if otlp.Begins(head) {
		return "it is a profile of OpenTelemetry" + fromRecording
	}
	for _, r := range recordings {
		if r.begin().Match(head) {
			return r.what + fromRecording
		}
	}
	return fmt.Sprintf("it begins with %q", head[:min(len(head), 16)])
}

// isPprof reports whether a file begins with fields of pprof's protocol buffer message, in any
// order, up to a sample type or to the empty string at the start of the string table.
func isPprof(head []byte) bool {
	const sampleType, stringTable, periodType, last = 1, 6, 11, 15
	messages := map[uint64]bool{sampleType: true, 2: true, 3: true, 4: true, 5: true, stringTable: true, periodType: true}
	for len(head) > 1 {
		field, wire := uint64(head[0]>>3), head[0]&7
		v, n := binary.Uvarint(head[1:])
		if n <= 0 || field == 0 || field > last || wire != 0 && wire != 2 || messages[field] != (wire == 2) {
			return false
		}
		if head = head[1+n:]; wire == 0 {
			continue
		}
		if v > uint64(len(head)) {
			return false
		}
		if field == sampleType {
			return isValueType(head[:v])
		}
		if field == stringTable {
			return v == 0 && len(head) > 0 && head[0]&7 == 2
		}
		head = head[v:]
	}
	return false
}

// isValueType reports whether an encoded message of protocol buffers is pprof's ValueType, which
// has the type and the unit of samples.
func isValueType(message []byte) bool {
	for want := byte(0x08); len(message) > 0; want = 0x10 {
		_, n := binary.Uvarint(message[1:])
		if message[0] != want || n <= 0 || want == 0x10 && len(message) > 1+n {
			return false
		}
		message = message[1+n:]
	}
	return true
}

// A Format is a file format of profiles. The zero Format is none.
type Format uint8

// The formats.
const (
	V4          Format = iota + 1 // GCOV version 4
	V4Compact                     // GCOV version 4 in compact encoding
	V3                            // GCOV version 3
	V2                            // GCOV version 2
	Text                          // the textual form of version 4
	ExtBinary                     // LLVM's sample profile
	Binary                        // LLVM's sample profile in the older binary format
	SampleText                    // LLVM's sample profile as text
	ProfData                      // LLVM's indexed instrumentation profile
	ProfRaw                       // LLVM's raw instrumentation profile
	ProfText                      // LLVM's instrumentation profile as text
	MemProf                       // LLVM's indexed profile with a memory profile and nothing else
	MemProfRaw                    // LLVM's raw memory profile
	MemProfYAML                   // LLVM's memory profile as YAML
	GCDA                          // counters of an instrumented program of GCC
)

var formatNames = [...]string{
	"none", "v4", "v4c", "v3", "v2", "text", "extbinary", "binary", "sampletext",
	"profdata", "profraw", "proftext", "memprof", "memprofraw", "yaml", "gcda",
}

// String returns the format's name in the afdo command, such as "v4".
func (f Format) String() string { return formatNames[f] }

// GCOV reports whether the format is one of GCC's sample profiles.
func (f Format) GCOV() bool { return V4 <= f && f <= Text }

// Sample reports whether the format is one of LLVM's sample profiles.
func (f Format) Sample() bool { return ExtBinary <= f && f <= SampleText }

// Instr reports whether the format is one of LLVM's instrumentation profiles.
func (f Format) Instr() bool { return ProfData <= f && f <= ProfText }

// Memory reports whether the format is one of LLVM's memory profiles.
func (f Format) Memory() bool { return MemProf <= f && f <= MemProfYAML }
