package sampleprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Version is the version of the binary formats that this package writes. It reads Binary files of
// version 103 and ExtBinary files of versions 103 to 105. LLVM's tools write versions 104 and 105
// only on request. A file with the composite sections of version 105 is rejected.
const Version = 103

const maxVersion = 105

// The magic number of a file, a ULEB128.
const (
	magicExtBinary = 0x5350524f46343204 // "SPROF42", 4
	magicBinary    = 0x5350524f463432ff // "SPROF42", 255
	magicCompact   = 0x5350524f46343202 // "SPROF42", 2
)

// A Format is a file format of sample profiles.
type Format uint8

// The formats.
const (
	ExtBinary Format = iota + 1
	Binary           // the older format, without sections
	Text
)

// maxHeader is the maximum size of magic and version, in bytes.
const maxHeader = 2 * binary.MaxVarintLen64

// A Reader reads a binary sample profile lazily. It reads the header and the section table when
// opened, and the rest when needed. All methods may be called concurrently. A section of 2 GiB or
// more gives afdo.ErrLimit when it is read.
//
// A file in the older [Binary] format has no section table. Opening reads the whole file, and
// looking up a function decodes all functions.
type Reader struct {
	src      *source.Source
	format   Format
	version  uint64
	sections []Section
	entries  int64 // offset of the first entry of the section table
	kind     kind
	spent    budget

	mu       sync.Mutex // guards the following fields, which are read when first needed
	names    *names
	contexts *contexts
	groups   []*bodies
	metadata map[NameRef][]metadataAt
	mapped   bool // metadata has been read
}

// A kind holds properties of a profile, such as whether it is context-sensitive or has probes.
// Flags of the sections of a file declare them.
type kind struct {
	partial, contextSensitive, fs, preInlined, vtables bool
	probes, attributes                                 bool
}

// A kindFlag is a flag of a section, and a pointer to the property of the profile that it declares.
type kindFlag struct {
	flag     SectionFlags
	property *bool
}

// flags returns those flags of sections of type t that declare properties of the profile.
func (k *kind) flags(t SectionType) []kindFlag {
	switch t {
	case SectionSummary:
		return []kindFlag{
			{flagPartial, &k.partial}, {flagFullContext, &k.contextSensitive}, {flagFS, &k.fs},
			{flagPreInlined, &k.preInlined}, {flagVTables, &k.vtables},
		}
	case SectionMetadata:
		return []kindFlag{{flagProbes, &k.probes}, {flagHasAttributes, &k.attributes}}
	}
	return nil
}

// declared returns the flags that a section of type t needs to declare the properties in k.
func (k *kind) declared(t SectionType) (flags SectionFlags) {
	for _, f := range k.flags(t) {
		if *f.property {
			flags |= f.flag
		}
	}
	return flags
}

// Open opens a file. It reads the header and the section table, and checks that the sections lie
// within the file and do not overlap. The caller must close the Reader. Errors are those of the
// system, *afdo.FormatError and *afdo.VersionError.
//
// The Reader copies what it reads into Go memory. If the file is truncated or modified while it is
// open, reads return an *afdo.ReadError that wraps afdo.ErrChanged.
func Open(path string, opts ...Option) (*Reader, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(src, opts)
	if err != nil {
		_ = src.Close() // nothing has been written
		return nil, err
	}
	return r, nil
}

// OpenBytes opens a file in memory. Uncompressed sections are decoded in place, without a copy.
// data must not change while the Reader or any name it returned is in use. OpenBytes costs as much
// as [Open].
func OpenBytes(data []byte, opts ...Option) (*Reader, error) {
	if data == nil {
		data = []byte{}
	}
	return newReader(source.OfBytes(data), opts)
}

// NewReader opens a file of size bytes that it reads through src, which must allow concurrent reads
// if the Reader is used concurrently. Close does not close src. NewReader costs as much as [Open].
func NewReader(src io.ReaderAt, size int64, opts ...Option) (*Reader, error) {
	if size < 0 {
		return nil, fmt.Errorf("sampleprof: size %d is negative", size)
	}
	if src == nil {
		return nil, errors.New("sampleprof: no reader")
	}
	return newReader(source.Of(src, size), opts)
}

// Close releases the file. Later calls that read the file return afdo.ErrClosed, and so does a
// second Close. Values returned before stay valid.
func (r *Reader) Close() error { return r.src.Close() }

// Format returns the format of the file, [ExtBinary] or [Binary].
func (r *Reader) Format() Format { return r.format }

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.src.Size() }

// HasUniqueNames reports whether the section table has the flag for names that clang has made by
// -funique-internal-linkage-names. Binary files never have the flag.
func (r *Reader) HasUniqueNames() bool {
	names := r.section(SectionNames)
	return names != nil && names.Flags&flagUniq != 0
}

// Sections returns the section table. For a [Binary] file, it returns the parts that would be
// sections in ExtBinary. The caller must not change the table.
func (r *Reader) Sections() []Section { return r.sections }

func newReader(src *source.Source, opts []Option) (*Reader, error) {
	o := options{maxMemory: defaultTimesFile*src.Size() + defaultFloor}
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	r := &Reader{src: src}
	r.spent.limit = o.maxMemory
	head, err := src.View(0, int(min(src.Size(), maxHeader)))
	if err != nil {
		return nil, err
	}
	start, err := r.readMagic(head)
	if err != nil {
		return nil, err
	}
	if r.format == Binary {
		err = r.findSections(start)
	} else {
		err = r.readTable(start)
	}
	if err != nil {
		return nil, err
	}
	return r, r.readKind()
}

// readMagic determines the format of a file from its first bytes. It returns the position after the
// magic number.
func (r *Reader) readMagic(head []byte) (int, error) {
	f := fields{Buffer: decode.Buffer{Data: head}}
	magic := f.uint64()
	switch magic { // 0 if there is none
	case magicExtBinary:
		r.format = ExtBinary
	case magicBinary:
		r.format = Binary
	case magicCompact:
		return 0, f.section.fault(0, errMagic, "the compact binary format, which LLVM has removed")
	default:
		return 0, f.section.fault(0, errMagic, "the file begins with %q", head[:min(len(head), 10)])
	}
	version := f.uint64()
	if f.Err != nil {
		return 0, f.err()
	}
	if version < Version || version > maxVersion || r.format == Binary && version > Version {
		return 0, &fault.VersionError{Format: formatName, Version: version, Detail: fmt.Sprintf("%d, not %d to %d", version, Version, maxVersion)}
	}
	r.version = version
	return f.Pos, nil
}

// Detect determines the format of a file from its first bytes. It returns 0 if the format is
// unknown. Binary formats need ten bytes. A text is recognised by a function header in the first
// line that is neither empty nor a comment. head must contain that line at least up to the first
// digit of the head count.
func Detect(head []byte) Format {
	switch magic, n := binary.Uvarint(head); {
	case n > 0 && magic == magicExtBinary:
		return ExtBinary
	case n > 0 && magic == magicBinary:
		return Binary
	case isText(head):
		return Text
	}
	return 0
}

// putHeader appends the magic number of the format f and the version to b.
func putHeader(b []byte, f Format) []byte {
	magic := uint64(magicExtBinary)
	if f == Binary {
		magic = magicBinary
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, magic), Version)
}

// findSections finds the parts of a [Binary] file: summary, names and function records.
func (r *Reader) findSections(start int) error {
	if r.src.Size() > 1<<31-1 {
		return (*Section)(nil).fault(0, fault.ErrLimit, "%d bytes", r.src.Size())
	}
	data, err := r.src.View(0, int(r.src.Size()))
	if err != nil {
		return err
	}
	r.src.Keep(data)
	f := fields{Buffer: decode.Buffer{Data: data, Pos: start}}
	part := func(t SectionType, read func()) {
		s := Section{Index: len(r.sections), Type: t, Offset: int64(f.Pos)}
		if f.Err == nil {
			f.section = &s
		}
		read()
		s.Size = int64(f.Pos) - s.Offset
		r.sections = append(r.sections, s)
	}
	part(SectionSummary, func() { f.readSummary() })
	part(SectionNames, func() {
		for range f.count(1, "names") {
			f.skipString()
		}
	})
	part(SectionBodies, func() { f.Pos += f.Rest() })
	return f.err()
}

// readKind finds out which properties the profile has, such as probes, from the flags of the
// sections. It returns an error for a section table from which no profile can be read.
func (r *Reader) readKind() error {
	seen := map[SectionType]bool{}
	for i := range r.sections {
		s := &r.sections[i]
		if s.Size == 0 && s.Type != SectionMetadata {
			continue
		}
		for _, f := range r.kind.flags(s.Type) {
			*f.property = *f.property || s.Flags&f.flag != 0
		}
		switch s.Type {
		case SectionSummary, SectionMetadata, SectionNames, SectionContexts:
		case SectionBodies:
			if !seen[SectionNames] {
				return r.tableFault(s, "no names come before the bodies")
			}
			if r.kind.contextSensitive && !seen[SectionContexts] {
				return r.tableFault(s, "no contexts come before the bodies")
			}
			continue
		default:
			continue
		}
		if seen[s.Type] && s.Type != SectionMetadata {
			return r.tableFault(s, "a second section of "+s.Type.String())
		}
		seen[s.Type] = true
	}
	return nil
}

// tableFault returns an error about the entry of s in the section table.
func (r *Reader) tableFault(s *Section, detail string) error {
	return (*Section)(nil).fault(r.entries+int64(s.Index)*tableEntrySize, fault.ErrSection, "%s", detail)
}

// section returns the first non-empty section of a type.
func (r *Reader) section(t SectionType) *Section {
	for i := range r.sections {
		if s := &r.sections[i]; s.Type == t && s.Size > 0 {
			return s
		}
	}
	return nil
}

// Summary returns the summary stored in the file, or afdo.ErrNotFound if there is none. Each call
// reads the section again.
func (r *Reader) Summary() (*afdo.Summary, error) {
	if err := r.src.Ready(); err != nil {
		return nil, err
	}
	s := r.section(SectionSummary)
	if s == nil {
		return nil, fault.ErrNotFound
	}
	f, err := r.open(s)
	if err != nil {
		return nil, err
	}
	summary := f.readSummary()
	return summary, f.end()
}

// symbolList returns the profile symbol list, which holds the names of all functions of the
// profiled program, in file order, or nil if the file has no list. Each call reads the section
// again.
func (r *Reader) symbolList() ([]string, error) {
	var list []string
	for i := range r.sections {
		s := &r.sections[i]
		if s.Type != SectionSymbolList || s.Size == 0 {
			continue
		}
		f, err := r.open(s)
		if err != nil {
			return nil, err
		}
		for f.Err == nil && f.Rest() > 0 {
			start := f.Pos
			f.skipString()
			if f.Err == nil {
				list = append(list, string(f.Data[start:f.Pos-1]))
			}
		}
		if f.Err != nil {
			return nil, f.err()
		}
	}
	return list, nil
}

// Name returns the name with the given index, which must come from this Reader. The text of the
// name is not copied, so it keeps the names section in memory.
func (r *Reader) Name(ref NameRef) Name { return r.names.name(ref) }

// An Option configures a [Reader].
type Option func(*options)

type options struct{ maxMemory int64 }

// MaxMemory limits the memory for the sections that a [Reader] keeps plus the functions that [Read]
// or [Profile.Merge] adds, to n bytes. A file that needs more gives afdo.ErrLimit. The default is
// 48 times the file size plus 32 MiB. Real files need less, but a compressed section can expand a
// thousandfold.
func MaxMemory(n int64) Option {
	return func(o *options) { o.maxMemory = n }
}

const (
	defaultTimesFile = 48
	defaultFloor     = 32 << 20
)

// A budget limits how many bytes of memory a [Reader] and its users may take.
type budget struct {
	limit int64
	spent atomic.Int64
}

func (b *budget) add(n int64) error {
	if spent := b.spent.Add(n); n < 0 || spent > b.limit || spent < 0 {
		return fmt.Errorf("it needs more than %d bytes of memory", b.limit)
	}
	return nil
}
