package memprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

const (
	version2 = 2
	version3 = 3
	version4 = 4
)

// versions lists the versions of the section that this package reads and writes.
var versions = []uint64{version2, version3, version4}

// A header is the decoded header of a section. Offsets are file offsets.
type header struct {
	version uint64

	recordPayload, recordTable uint64 // in version 2 the payload follows the header and its offset is not stored
	framePayload, frameTable   uint64 // version 2 only
	stackPayload, stackTable   uint64 // version 2 only
	stacks                     uint64 // versions 3 and 4; the frames lie between the header and the stacks
	access                     uint64 // version 4 only; 0 if there is no data access profile

	summary *Summary // version 4 only
	schema  Schema
}

// fields returns the offsets in the order of the file.
func (h *header) fields() []*uint64 {
	switch h.version {
	case version2:
		return []*uint64{&h.recordTable, &h.framePayload, &h.frameTable, &h.stackPayload, &h.stackTable}
	case version3:
		return []*uint64{&h.stacks, &h.recordPayload, &h.recordTable}
	default:
		return []*uint64{&h.stacks, &h.recordPayload, &h.recordTable, &h.access}
	}
}

func (d *decoder) header() (header, error) {
	h := header{version: d.Uint64("version")}
	if d.Err == nil && !slices.Contains(versions, h.version) {
		return h, versionError(h.version, versions)
	}
	for _, field := range h.fields() {
		*field = d.Uint64("offset")
	}
	if h.version >= version4 {
		h.summary = d.summary()
	}
	h.schema = d.schema()
	return h, d.err()
}

// header appends h. The caller appends the header twice: first to reserve its bytes, and again in
// their place when the offsets are known.
func (e *encoder) header(h *header) {
	e.u64(h.version)
	for _, field := range h.fields() {
		e.place(*field)
	}
	if h.version >= version4 {
		e.summary(h.summary)
	}
	e.schema(h.schema)
}

func (d *decoder) schema() Schema {
	d.Part = partSchema
	at := d.Pos
	s := make(Schema, 0, 4)
	for range d.count("fields", 8) {
		tagAt := d.Pos
		tag := d.Uint64("field")
		f := Field(min(tag, 0xff))
		if d.Err == nil && !f.known() {
			d.Fail(tagAt, ErrSchema, "field %d is not known, nor is its size", tag)
		}
		if d.Err == nil && s.has(f) {
			d.Fail(tagAt, ErrSchema, "duplicate field %s", f)
		}
		if d.Err != nil {
			return nil
		}
		s = append(s, f)
	}
	if d.Err == nil && len(s) == 0 {
		d.Fail(at, ErrSchema, "there are no fields")
	}
	return s
}

func (e *encoder) schema(s Schema) {
	e.u64(uint64(len(s)))
	for _, f := range s {
		e.u64(uint64(f))
	}
}

// A Field is one of the numbers that a profile records for an allocation site. Its value is the
// field's tag in a schema.
type Field uint8

// The fields. Times are in milliseconds and sizes in bytes. An access density is 100 times the
// accesses per byte. A lifetime access density is 1000 times the access density per millisecond.
// Fields named Total or Num are sums over all allocations, whose number is AllocCount. Time stamps
// and CPUs are those of the last allocation.
const (
	AllocCount Field = iota + 1
	TotalAccessCount
	MinAccessCount
	MaxAccessCount
	TotalSize
	MinSize
	MaxSize
	AllocTimestamp
	DeallocTimestamp
	TotalLifetime
	MinLifetime
	MaxLifetime
	AllocCPUID
	DeallocCPUID
	NumMigratedCPU
	NumLifetimeOverlaps
	NumSameAllocCPU
	NumSameDeallocCPU
	DataTypeID
	TotalAccessDensity
	MinAccessDensity
	MaxAccessDensity
	TotalLifetimeAccessDensity
	MinLifetimeAccessDensity
	MaxLifetimeAccessDensity
	AccessHistogramSize
	AccessHistogram // an address in the profiled program, meaningless here
)

const numFields = int(AccessHistogram)

// fieldInfo describes how a field is stored and merged.
type fieldInfo struct {
	name string // in YAML
	size int    // in bytes
	rule rule
}

// A rule describes how a field is merged when blocks of two runs are combined.
type rule uint8

const (
	ruleLast rule = iota // take the value of the later run
	ruleSum
	ruleMin
	ruleMax
)

var fieldInfos = [numFields + 1]fieldInfo{
	AllocCount:                 {"AllocCount", 4, ruleSum},
	TotalAccessCount:           {"TotalAccessCount", 8, ruleSum},
	MinAccessCount:             {"MinAccessCount", 8, ruleMin},
	MaxAccessCount:             {"MaxAccessCount", 8, ruleMax},
	TotalSize:                  {"TotalSize", 8, ruleSum},
	MinSize:                    {"MinSize", 4, ruleMin},
	MaxSize:                    {"MaxSize", 4, ruleMax},
	AllocTimestamp:             {"AllocTimestamp", 4, ruleLast},
	DeallocTimestamp:           {"DeallocTimestamp", 4, ruleLast},
	TotalLifetime:              {"TotalLifetime", 8, ruleSum},
	MinLifetime:                {"MinLifetime", 4, ruleMin},
	MaxLifetime:                {"MaxLifetime", 4, ruleMax},
	AllocCPUID:                 {"AllocCpuId", 4, ruleLast},
	DeallocCPUID:               {"DeallocCpuId", 4, ruleLast},
	NumMigratedCPU:             {"NumMigratedCpu", 4, ruleSum},
	NumLifetimeOverlaps:        {"NumLifetimeOverlaps", 4, ruleSum},
	NumSameAllocCPU:            {"NumSameAllocCpu", 4, ruleSum},
	NumSameDeallocCPU:          {"NumSameDeallocCpu", 4, ruleSum},
	DataTypeID:                 {"DataTypeId", 8, ruleLast},
	TotalAccessDensity:         {"TotalAccessDensity", 8, ruleSum},
	MinAccessDensity:           {"MinAccessDensity", 4, ruleMin},
	MaxAccessDensity:           {"MaxAccessDensity", 4, ruleMax},
	TotalLifetimeAccessDensity: {"TotalLifetimeAccessDensity", 8, ruleSum},
	MinLifetimeAccessDensity:   {"MinLifetimeAccessDensity", 4, ruleMin},
	MaxLifetimeAccessDensity:   {"MaxLifetimeAccessDensity", 4, ruleMax},
	AccessHistogramSize:        {"AccessHistogramSize", 4, ruleMax},
	AccessHistogram:            {"AccessHistogram", 8, ruleLast},
}

func (f Field) known() bool { return f >= 1 && int(f) <= numFields }

// String returns the name of the field in YAML.
func (f Field) String() string {
	if !f.known() {
		return "field " + strconv.Itoa(int(f))
	}
	return fieldInfos[f].name
}

// size returns the size of the field in a section, in bytes.
func (f Field) size() int { return fieldInfos[f].size }

// fieldNamed returns the field with the given name, or 0.
func fieldNamed(name string) Field {
	for f := AllocCount; f.known(); f++ {
		if fieldInfos[f].name == name {
			return f
		}
	}
	return 0
}

// A Schema lists the fields that a profile stores for each allocation site, in order.
type Schema []Field

// DefaultSchema returns the fields that the compiler needs. llvm-profdata writes these by default.
func DefaultSchema() Schema {
	return Schema{AllocCount, TotalSize, TotalLifetime, TotalLifetimeAccessDensity}
}

// FullSchema returns all fields. "llvm-profdata merge --memprof-full-schema" writes these.
func FullSchema() Schema {
	s := make(Schema, 0, numFields)
	for f := AllocCount; f.known(); f++ {
		s = append(s, f)
	}
	return s
}

// has reports whether s contains f.
func (s Schema) has(f Field) bool { return slices.Contains(s, f) }

// blockSize returns the size of a memory block in bytes.
func (s Schema) blockSize() int {
	n := 0
	for _, f := range s {
		n += f.size()
	}
	return n
}

// union returns the fields of s and t, sorted by tag.
func (s Schema) union(t Schema) Schema {
	all := append(slices.Clone(s), t...)
	slices.Sort(all)
	return slices.Compact(all)
}

// A decoder reads the fields of one part of a section.
type decoder struct {
	decode.Buffer
	base int64 // file offset of Data
}

// err returns the first error as an afdo.FormatError.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error { return faultAt(f.Part, d.base+int64(f.Pos), f.Class, "%s", f.Detail) })
}

// size reads a number of bytes and checks that this many bytes are left.
func (d *decoder) size(what string) int { return d.count(what, 1) }

// count reads a number of items and checks that this many items of at least size bytes each fit
// into the bytes that are left.
func (d *decoder) count(what string, size int) int {
	at := d.Pos
	return d.Count(at, d.Uint64("number of "+what), size, what)
}

// align skips to the next file offset that is a multiple of eight.
func (d *decoder) align(what string) {
	if rest := (d.base + int64(d.Pos)) % 8; rest != 0 {
		d.Take(uint64(8-rest), what)
	}
}

// An encoder appends fields in the form that a decoder reads.
type encoder struct {
	data   []byte
	places []int // positions in data of words that hold a file offset
}

func (e *encoder) u8(v uint8)   { e.data = append(e.data, v) }
func (e *encoder) u16(v uint16) { e.data = binary.LittleEndian.AppendUint16(e.data, v) }
func (e *encoder) u32(v uint32) { e.data = binary.LittleEndian.AppendUint32(e.data, v) }
func (e *encoder) u64(v uint64) { e.data = binary.LittleEndian.AppendUint64(e.data, v) }

// offset returns the offset of the next byte.
func (e *encoder) offset() uint64 { return uint64(len(e.data)) }

// place appends a file offset, 0 for none, and records its position so that it can be relocated.
func (e *encoder) place(offset uint64) {
	e.places = append(e.places, len(e.data))
	e.u64(offset)
}

// patch overwrites the word at position pos.
func (e *encoder) patch(pos int, v uint64) { binary.LittleEndian.PutUint64(e.data[pos:], v) }

func (e *encoder) align() {
	for e.offset()%8 != 0 {
		e.u8(0)
	}
}

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// ErrOffset: an offset, an index or an ID is out of range or leads to the wrong data.
	ErrOffset = errors.New("bad offset")

	// ErrSchema: the schema has unknown or duplicate fields.
	ErrSchema = errors.New("bad schema")

	// ErrValue: a field has an invalid value.
	ErrValue = errors.New("bad value")

	// ErrHashTable: a hash table is inconsistent.
	ErrHashTable = fault.ErrHashTable
)

// ErrBinary matches errors that explain why a raw profile and a binary do not belong together.
var ErrBinary = errors.New("the binary does not fit")

// Parts of a profile, as named in afdo.FormatError.
const (
	partHeader     = "header"
	partSchema     = "schema"
	partFrames     = "frames"
	partCallStacks = "call stacks"
	partRecords    = "records"
	partDataAccess = "data access profile"
	partSegments   = "segments"
	partBlocks     = "memory blocks"
)

// faultAt returns an error about a file offset in the given part.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "memprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns an error about a version that is not in known.
func versionError(version uint64, known []uint64) error {
	return &fault.VersionError{
		Format: "memprof", Version: version,
		Detail: fmt.Sprintf("version %d, not one of %s", version, strings.Trim(fmt.Sprint(known), "[]")),
	}
}

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("memprof: %w: %s", fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}
