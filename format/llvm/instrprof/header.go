package instrprof

import (
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// Magic is the first eight bytes of an indexed file.
const Magic = "\xfflprofi\x81"

const (
	minIndexed = 1
	maxIndexed = 14

	// Versions that this package writes: from minWritten to maxIndexed. LLVM 22 reads no later one
	// than the usual one.
	minWritten   = 5
	usualWritten = 13
)

// First versions of indexed files that have a certain feature.
const (
	versionCounts    = 2 // each record stores its number of counters
	versionValues    = 3
	versionSummary   = 4
	versionMemProf   = 8
	versionBinaryIDs = 9
	versionTraces    = 10
	versionBitmap    = 11
	versionVTables   = 12
	versionUniform   = 14
)

// A Header is the decoded header of an indexed file. The fields after Flags are file offsets in
// bytes, or 0 for a section that the file does not have.
type Header struct {
	Version     uint32
	Flags       Flags
	HashTable   int64
	MemProf     int64
	BinaryIDs   int64
	VTableNames int64
	Traces      int64
}

// A headerOffset is a field of the header with the file offset of a section. Files of version since
// and later have it.
type headerOffset struct {
	at    *int64
	since uint32
	name  string
}

// offsets returns the fields of the header with file offsets of sections, in the order of the file.
func (h *Header) offsets() []headerOffset {
	return []headerOffset{
		{&h.HashTable, 0, "hash table"},
		{&h.MemProf, versionMemProf, "MemProf section"},
		{&h.BinaryIDs, versionBinaryIDs, "binary IDs"},
		{&h.Traces, versionTraces, "temporal traces"},
		{&h.VTableNames, versionVTables, "vtable names"},
	}
}

// header reads the header of an indexed file of the given size.
func (f *fields) header(size int64) Header {
	var h Header
	if len(f.Data) < len(Magic) || string(f.Data[:len(Magic)]) != Magic {
		f.Fail(0, errMagic, "the file does not begin with %q", Magic)
		return h
	}
	f.Pos = len(Magic)
	word := f.Uint64("the version")
	if f.Err != nil {
		return h
	}
	h.Version, h.Flags = versionWord(word)
	if h.Version < minIndexed || h.Version > maxIndexed {
		f.Stop(versionError("indexed", h.Version, minIndexed, maxIndexed))
		return Header{}
	}
	if unknown := h.Flags &^ knownFlags; unknown != 0 {
		f.Fail(f.Pos-8, fault.ErrHeader, "unknown flags %#x", uint32(unknown))
	}
	f.Uint64("the word that is not used")
	if t := f.Uint64("the hash type"); t != 0 {
		f.Fail(f.Pos-8, fault.ErrHeader, "hash type %d, 0 is the only one", t)
	}
	for _, o := range h.offsets() {
		if h.Version < o.since {
			continue
		}
		v := f.Uint64("the offset of the " + o.name)
		*o.at = int64(v)
		if f.Err == nil && v > uint64(size) {
			f.Fail(f.Pos-8, fault.ErrHeader, "the %s at offset %d of a file of %d bytes", o.name, v, size)
		}
	}
	return h
}

// append appends the header to p in the form that [fields.header] reads.
func (h *Header) append(p []byte) []byte {
	p = append(p, Magic...)
	p = append64(p, h.Flags.word(h.Version), 0, 0)
	for _, o := range h.offsets() {
		if h.Version >= o.since {
			p = append64(p, uint64(*o.at))
		}
	}
	return p
}

// Flags describe how a program was instrumented. A file stores the flags in the upper half of its
// version word.
type Flags uint32

// The flags of LLVM 22.
const (
	LoopEntries       Flags = 1 << (iota + 55 - 32) // loop entries are instrumented
	IRLevel                                         // the IR was instrumented, not the source by the front end
	ContextSensitive                                // some records are context-sensitive, see [Record.ContextSensitive]
	EntryFirst                                      // the entry block is always instrumented
	Correlated                                      // raw files: the functions are described in debug info or the binary
	SingleByteCounter                               // counters record whether a block ran, not how often
	FunctionEntryOnly                               // only function entries are instrumented
	HasMemProf                                      // indexed files: there is a MemProf section
	TemporalTraces                                  // there are traces of the order of first calls
)

var flagNames = [...]struct {
	flag Flags
	name string
}{
	{IRLevel, "ir"},
	{ContextSensitive, "context-sensitive"},
	{EntryFirst, "entry-first"},
	{LoopEntries, "loop-entries"},
	{SingleByteCounter, "single-byte-coverage"},
	{FunctionEntryOnly, "function-entry-only"},
	{Correlated, "correlated"},
	{HasMemProf, "memprof"},
	{TemporalTraces, "temporal"},
}

// String lists the names of the flags that are set, separated by commas.
func (f Flags) String() string {
	var names []string
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ",")
}

// contextSensitive reports whether a record with this function hash is context-sensitive. One bit
// of the hash says so, but only if f has the flag ContextSensitive. Without the flag, the bit has
// no meaning: front ends, for example that of Rust, use all bits of the hash.
func (f Flags) contextSensitive(hash uint64) bool { return f&ContextSensitive != 0 && marked(hash) }

// csHash is the bit of a function hash that marks a context-sensitive record.
const csHash = 1 << 60

// marked reports whether the bit that means context-sensitive is set in a function hash, see
// [Flags.contextSensitive].
func marked(hash uint64) bool { return hash&csHash != 0 }

func notMarked(hash uint64) bool { return !marked(hash) }

// versionWord splits the word of a header that holds the version and the flags.
func versionWord(w uint64) (version uint32, flags Flags) { return uint32(w), Flags(w >> 32) }

func (f Flags) word(version uint32) uint64 { return uint64(f)<<32 | uint64(version) }

// knownFlags are all flags that this package can read. A file with any other flag is rejected,
// because that flag may change how the file has to be read.
const knownFlags = LoopEntries | IRLevel | ContextSensitive | EntryFirst | Correlated | SingleByteCounter |
	FunctionEntryOnly | HasMemProf | TemporalTraces

// writtenSince maps flags to the first version of indexed files that can have them.
var writtenSince = [...]struct {
	flag    Flags
	version uint32
}{
	{HasMemProf, versionVTables}, // this package writes MemProf sections of LLVM 19 and later only
	{TemporalTraces, versionTraces},
	{LoopEntries, versionVTables},
}

// in returns the flags in f that a file of the given version can have.
func (f Flags) in(version uint32) Flags {
	for _, w := range writtenSince {
		if version < w.version {
			f &^= w.flag
		}
	}
	return f
}
