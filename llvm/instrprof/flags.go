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

// versionWord splits the word that holds version and flags.
func versionWord(w uint64) (version uint32, flags Flags) { return uint32(w), Flags(w >> 32) }

func (f Flags) word(version uint32) uint64 { return uint64(f)<<32 | uint64(version) }

// knownFlags are all flags that change how a file is read. A file with any other
// flag is refused, as it cannot be known what that changes.
const knownFlags = LoopEntries | IRLevel | ContextSensitive | EntryFirst | Correlated | SingleByteCounter |
	FunctionEntryOnly | HasMemProf | TemporalTraces
