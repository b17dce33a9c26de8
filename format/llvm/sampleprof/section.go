package sampleprof

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A SectionType is the type of a section in an ExtBinary file.
type SectionType uint64

// The section types of LLVM 22. Readers skip sections of other types.
const (
	SectionSummary     SectionType = 1
	SectionNames       SectionType = 2
	SectionSymbolList  SectionType = 3
	SectionFuncOffsets SectionType = 4
	SectionMetadata    SectionType = 5
	SectionContexts    SectionType = 6
	SectionBodies      SectionType = 32

	// Section types of version 105.
	sectionComposite        SectionType = 33
	sectionCompositeOffsets SectionType = 34
)

// holdsFunctions reports whether LLVM reserves the type for sections with the records of functions.
// LLVM uses only the low 32 bits of a type.
func (t SectionType) holdsFunctions() bool { return t >= SectionBodies }

var sectionNames = map[SectionType]string{
	SectionSummary:          "summary",
	SectionNames:            "names",
	SectionSymbolList:       "symbol list",
	SectionFuncOffsets:      "function offsets",
	SectionMetadata:         "metadata",
	SectionContexts:         "contexts",
	SectionBodies:           "bodies",
	sectionComposite:        "composite profile",
	sectionCompositeOffsets: "composite function offsets",
}

// String returns the name of the type, such as "function offsets", or "type 7" for an unknown one.
func (t SectionType) String() string {
	if name, ok := sectionNames[t]; ok {
		return name
	}
	return fmt.Sprintf("type %d", uint64(t))
}

// SectionFlags are the flags of a section. The low 32 bits mean the same in all sections; the high
// 32 bits depend on the type. [Section.FlagNames] names them.
type SectionFlags uint64

// Section flags, starting with those common to all types.
const (
	flagCompressed SectionFlags = 1 << 0
	flagFlat       SectionFlags = 1 << 1 // functions without inlined bodies

	flagPartial       SectionFlags = 1 << 32 // summary: profile of part of the program
	flagFullContext   SectionFlags = 1 << 33 // summary: context-sensitive profile
	flagFS            SectionFlags = 1 << 34 // summary: flow-sensitive discriminators
	flagPreInlined    SectionFlags = 1 << 36 // summary: pre-inliner decisions
	flagVTables       SectionFlags = 1 << 37 // summary: each body ends with its vtables
	flagMD5           SectionFlags = 1 << 32 // names: MD5s
	flagFixedMD5      SectionFlags = 1 << 33 // names: MD5s of fixed length
	flagUniq          SectionFlags = 1 << 34 // names: some contain ".__uniq."
	flagEytzinger     SectionFlags = 1 << 35 // names: three arrays of MD5s, each a search tree
	flagOrdered       SectionFlags = 1 << 32 // function offsets: sorted by context
	flagParallel      SectionFlags = 1 << 33 // function offsets: an array parallel to search-tree names
	flagProbes        SectionFlags = 1 << 32 // metadata: checksums
	flagHasAttributes SectionFlags = 1 << 33 // metadata: attributes
)

var flagNames = map[SectionType][]string{
	SectionSummary:     {"partial", "context", "fs-discriminator", "", "preInlined", "vtables"},
	SectionNames:       {"md5", "fixlenmd5", "uniq", "eytzinger"},
	SectionFuncOffsets: {"ordered", "eytzinger"},
	SectionMetadata:    {"probe", "attr"},
}

// A Section is an entry of the section table.
type Section struct {
	Index  int // position in the table
	Type   SectionType
	Flags  SectionFlags
	Offset int64 // in the file, in bytes
	Size   int64 // in the file, in bytes
}

// compressed reports whether the section is a zlib stream.
func (s *Section) compressed() bool { return s != nil && s.Flags&flagCompressed != 0 }

// FlagNames returns llvm-profdata's names for the flags that are set. It omits flags without a
// name.
func (s *Section) FlagNames() []string {
	var names []string
	for i, name := range []string{"compressed", "flat"} {
		if s.Flags>>i&1 != 0 {
			names = append(names, name)
		}
	}
	for i, name := range flagNames[s.Type] {
		if name != "" && s.Flags>>(32+i)&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// unknownFlags returns the flags that no version of the format defines for the section. It returns
// 0 for a section that is skipped. The version of a file does not matter: LLVM 24 writes flags of
// version 104 in files of version 103.
func (s *Section) unknownFlags() SectionFlags {
	if _, known := sectionNames[s.Type]; !known {
		return 0
	}
	left := s.Flags &^ (flagCompressed | flagFlat)
	for i, name := range flagNames[s.Type] {
		if name != "" {
			left &^= 1 << (32 + i)
		}
	}
	return left
}

// nameFlags describes, for error messages, the flags of the section that are not known. unknown has
// these flags.
func (s *Section) nameFlags(unknown SectionFlags) string {
	name := strings.Join((&Section{Type: s.Type, Flags: unknown}).FlagNames(), ",")
	if s.Type == SectionSymbolList && unknown == flagMD5 {
		name = "md5" // of LLVM 23
	}
	if name == "" {
		name = fmt.Sprintf("%#x", uint64(unknown))
	}
	return name
}

const (
	tableEntrySize = 32
	tableCountSize = 8
)

// readTable reads the section table, which follows magic and version.
func (r *Reader) readTable(start int) error {
	head, err := r.src.View(0, int(min(r.src.Size(), int64(start+tableCountSize))))
	if err != nil {
		return err
	}
	f := fields{Buffer: decode.Buffer{Data: head, Pos: start}}
	n := f.Uint64("a number")
	if f.Err != nil {
		return f.err()
	}
	left := uint64(r.src.Size()) - uint64(f.Pos)
	if n > left/tableEntrySize || n > math.MaxInt32/tableEntrySize {
		f.Fail(start, fault.ErrCount, "%d sections, the %d bytes left hold at most %d entries", n, left, left/tableEntrySize)
		return f.err()
	}
	r.entries = int64(f.Pos)
	f.start = r.entries
	f.Data, err = r.src.View(f.start, int(n)*tableEntrySize)
	if err != nil {
		return err
	}
	f.Pos = 0
	r.sections = make([]Section, n)
	for i := range r.sections {
		f.tableEntry(i, &r.sections[i], r.src.Size())
	}
	f.checkBodies(r.sections)
	if f.Err != nil {
		return f.err()
	}
	return f.checkOverlaps(r.sections)
}

func (f *fields) tableEntry(i int, s *Section, fileSize int64) {
	s.Index = i
	s.Type = SectionType(f.Uint64("a number"))
	s.Flags = SectionFlags(f.Uint64("a number"))
	off, size := f.Uint64("a number"), f.Uint64("a number")
	first := uint64(f.start) + uint64(len(f.Data))
	if size > 0 && (off < first || off > uint64(fileSize) || size > uint64(fileSize)-off) {
		f.Fail(f.Pos-16, fault.ErrHeader, "the %s section, %d bytes at %d, is not within %d and %d", s.Type, size, off, first, fileSize)
		return
	}
	if size > 0 && (s.Type == sectionComposite || s.Type == sectionCompositeOffsets) {
		f.refuseType(i, s.Type)
		return
	}
	if unknown := s.unknownFlags(); size > 0 && unknown != 0 {
		f.Fail(f.Pos-tableEntrySize+8, fault.ErrSection, "unsupported flags of the %s section: %s",
			s.Type, s.nameFlags(unknown))
		return
	}
	s.Offset, s.Size = int64(off), int64(size)
}

// checkBodies returns an error for a file whose functions are only in sections of an unknown type.
// LLVM reserves some types for functions, and skips sections of these types. That is right only if
// the file has another section with function records.
func (f *fields) checkBodies(sections []Section) {
	for _, s := range sections {
		if s.Type == SectionBodies && s.Size > 0 {
			return
		}
	}
	for i, s := range sections {
		if s.Size > 0 && s.Type.holdsFunctions() {
			f.refuseType(i, s.Type)
			return
		}
	}
}

func (f *fields) refuseType(entry int, t SectionType) {
	f.Fail(entry*tableEntrySize, fault.ErrSection, "a section of functions of an unsupported type, %s", t)
}

// checkOverlaps returns an error if sections of the file share bytes, because overlapping sections
// could make a small file expand to a large profile.
func (f *fields) checkOverlaps(sections []Section) error {
	order := make([]*Section, 0, len(sections))
	for i := range sections {
		if sections[i].Size > 0 {
			order = append(order, &sections[i])
		}
	}
	slices.SortStableFunc(order, func(s, t *Section) int { return cmp.Compare(s.Offset, t.Offset) })
	for i := range order[min(1, len(order)):] {
		before, s := order[i], order[i+1]
		if before.Offset+before.Size > s.Offset {
			f.Fail(s.Index*tableEntrySize+16, fault.ErrHeader, "the %s section begins at %d, within section %d, which ends at %d",
				s.Type, s.Offset, before.Index, before.Offset+before.Size)
			return f.err()
		}
	}
	return nil
}

// putTable appends the section table.
func putTable(b []byte, sections []Section) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(sections)))
	for _, s := range sections {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Type))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Flags))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Offset))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Size))
	}
	return b
}

// open reads a whole section, and inflates it if it is compressed.
func (r *Reader) open(s *Section) (*fields, error) {
	if s.Size > math.MaxInt32 {
		return nil, s.fault(s.Offset, fault.ErrLimit, "%d bytes", s.Size)
	}
	data, err := r.src.View(s.Offset, int(s.Size))
	if err != nil {
		return nil, err
	}
	if s.compressed() {
		data, err = r.inflate(s, data)
		return &fields{Buffer: decode.Buffer{Data: data}, section: s}, err
	}
	return &fields{Buffer: decode.Buffer{Data: data}, section: s, start: s.Offset}, nil
}

// inflate returns the uncompressed bytes of a compressed section, whose bytes in the file are data.
func (r *Reader) inflate(s *Section, data []byte) ([]byte, error) {
	plain := *s
	plain.Flags &^= flagCompressed // the framing is not compressed, so its errors have file offsets
	f := fields{Buffer: decode.Buffer{Data: data}, section: &plain, start: s.Offset}
	size := f.uint64()
	packed := f.count(1, "bytes of a zlib stream")
	if f.Err == nil && f.Rest() > packed {
		f.Fail(f.Pos+packed, fault.ErrUnused, "%d bytes after the zlib stream", f.Rest()-packed)
	}
	if f.Err != nil {
		return nil, f.err()
	}
	if size > uint64(packed)*maxDeflateRatio+maxDeflateRatio {
		f.Fail(0, fault.ErrCount, "%d bytes decompressed, of a zlib stream of %d", size, packed)
		return nil, f.err()
	}
	if err := r.spent.add(int64(size)); err != nil {
		return nil, s.fault(0, fault.ErrLimit, "%v", err)
	}
	raw, err := inflate(f.Data[f.Pos:], int(size))
	if err != nil {
		return nil, s.fault(0, fault.ErrCompressed, "%v", err)
	}
	return raw, nil
}

// maxDeflateRatio exceeds the compression ratio of any zlib stream.
const maxDeflateRatio = 1032

func inflate(stream []byte, size int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, err
	}
	raw := make([]byte, size)
	if n, err := io.ReadFull(z, raw); err != nil {
		return nil, fmt.Errorf("%d of %d bytes: %w", n, size, err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 1)); n > 0 || err != nil {
		return nil, fmt.Errorf("more than %d bytes, or a bad checksum: %v", size, err)
	}
	return raw, nil
}

// deflate compresses the contents of a section. It puts the uncompressed and the compressed size in
// front, as [Reader.inflate] expects them. An empty section stays empty.
func deflate(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression) // the level is valid
	_, _ = z.Write(raw)                                        // a bytes.Buffer does not fail
	_ = z.Close()
	b := binary.AppendUvarint(nil, uint64(len(raw)))
	b = binary.AppendUvarint(b, uint64(packed.Len()))
	return append(b, packed.Bytes()...)
}
