package anyprof

import (
	"iter"
	"strconv"

	"github.com/go-afdo/afdo"
)

// A Name is the name of a function as the assembler has it, or what stands for it.
type Name struct {
	Text string // empty if the profile does not know it
	GUID uint64 // where Text is empty, the first eight bytes of the MD5 of the name, 0 if there is no name at all
}

// A Function is what a profile has of a function: of one in one file, in one calling context or of
// one hash, if the profile tells these apart. It stays valid when the profile is closed, but for
// its records.
type Function struct {
	Name
	Unit      string // path of the source file, empty if it is not known
	Context   string // of a context-sensitive profile, the calls on the way to the function, such as "main:3 @ f"
	Hash      uint64 // of the control flow graph, 0 if the profile has none
	HeadCount uint64 // how often the function was called, 0 if the profile does not tell it
	records   iter.Seq2[Record, error]
}

// Records iterates over the records of the function, with those of what is inlined in it. It ends
// with the first error. Each call begins anew.
func (f *Function) Records() iter.Seq2[Record, error] { return f.records }

// A Record is what a profile tells of a place in a function.
type Record struct {
	Kind Kind

	// Depth is how many inlined functions the record is in: 0 for the function itself.
	Depth int

	// Line and Discriminator are the place, Line counted from that of the function's declaration;
	// of a profile with pseudo-probes Line is the number of the probe. Column is known of
	// allocations.
	Line          uint32
	Discriminator uint32
	Column        uint32

	// Index is the number of the counter or of the place where values were counted, in
	// instrumentation profiles, which know no lines.
	Index int

	Name  Name   // of what is called or inlined, of a value, or of the function that has an allocation
	Value uint64 // that was counted, or how many bytes were allocated
	Count uint64 // of samples, calls, or times
}

// A Kind is a kind of record.
type Kind uint8

// The kinds.
const (
	Samples    Kind = iota + 1 // Count samples were taken at the place
	Call                       // Name was called from the place Count times
	Inlined                    // Name was inlined at the place; its records follow, one deeper
	Counter                    // the counter Index stands at Count
	Value                      // Name, a type, or Value was met Count times
	Allocation                 // Value bytes were allocated at the place, in Count allocations
)

var kindNames = [...]string{"none", "samples", "call", "inlined", "counter", "value", "allocation"}

// String returns a word for the kind, its number if there is no such kind.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// only looks names up where that takes looking at all functions.
func only(functions iter.Seq2[*Function, error], names []string) (map[string][]*Function, error) {
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	found := make(map[string][]*Function)
	for f, err := range functions {
		if err != nil {
			return nil, err
		}
		if f.Text != "" && wanted[f.Text] {
			found[f.Text] = append(found[f.Text], f)
		}
	}
	return found, nil
}

// single is the units of a format that knows no source files.
type single struct {
	functions iter.Seq2[*Function, error]
}

func (s single) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) { yield(Unit{functions: s.functions}, nil) }
}

func (s single) unit(path string) (Unit, error) {
	if path != "" {
		return Unit{}, afdo.ErrNotFound
	}
	return Unit{functions: s.functions}, nil
}
