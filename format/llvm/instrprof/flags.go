package instrprof

import "strings"

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
