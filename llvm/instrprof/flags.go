package instrprof

import "strings"

// Flags say how a program was instrumented. They are the upper half of the version of a file.
type Flags uint32

// The flags of LLVM 22.
const (
	LoopEntries       Flags = 1 << (iota + 55 - 32) // the entries of loops are instrumented
	IRLevel                                         // instrumented as IR, not by the front end
	ContextSensitive                                // has context-sensitive records, see [Record.ContextSensitive]
	EntryFirst                                      // the entry block is always instrumented
	Correlated                                      // of raw files: correlated with debug info
	SingleByteCounter                               // counters say whether, not how often
	FunctionEntryOnly                               // only the entries of functions are instrumented
	HasMemProf                                      // of indexed files: has a MemProf section
	TemporalTraces                                  // has traces of the order of first calls
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

// String lists the names of the flags that are set.
func (f Flags) String() string {
	var names []string
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ",")
}

// contextSensitive tells whether a record with a hash is context-sensitive. The hashes of the front
// end, of Rust for one, have all bits.
func (f Flags) contextSensitive(hash uint64) bool { return f&ContextSensitive != 0 && marked(hash) }

// csHash is the bit of the hash of a context-sensitive record.
const csHash = 1 << 60

// marked tells whether a hash has the bit of context-sensitive records.
func marked(hash uint64) bool { return hash&csHash != 0 }

func notMarked(hash uint64) bool { return !marked(hash) }

// versionWord splits the word that holds version and flags.
func versionWord(w uint64) (version uint32, flags Flags) { return uint32(w), Flags(w >> 32) }

func (f Flags) word(version uint32) uint64 { return uint64(f)<<32 | uint64(version) }

// knownFlags are all flags that change how a file is read. A file with any other
// flag is refused, as it cannot be known what that changes.
const knownFlags = LoopEntries | IRLevel | ContextSensitive | EntryFirst | Correlated | SingleByteCounter |
	FunctionEntryOnly | HasMemProf | TemporalTraces

// writtenSince are flags that readers of earlier versions do not know, or that say what these
// versions cannot hold.
var writtenSince = [...]struct {
	flag    Flags
	version uint32
}{
	{HasMemProf, versionVTables}, // the sections that are written are those of LLVM 19 and later
	{TemporalTraces, versionTraces},
	{LoopEntries, versionVTables},
}

// in returns the flags that a version can have.
func (f Flags) in(version uint32) Flags {
	for _, w := range writtenSince {
		if version < w.version {
			f &^= w.flag
		}
	}
	return f
}
