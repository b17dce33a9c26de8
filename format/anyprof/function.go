package anyprof

import (
	"iter"
	"strconv"

	"github.com/go-afdo/afdo"
)

// A Name is the linkage name of a function, or its GUID.
type Name struct {
	Text string // empty if unknown
	GUID uint64 // if Text is empty: the first eight bytes of the MD5 of the name, or 0 if there is no name
}

// A Function is the entry for one function in a profile. If the profile distinguishes source files,
// calling contexts or hashes of a function, there is a Function for each. It stays valid after the
// profile is closed, but its records do not.
type Function struct {
	Name
	Unit      string // path of the source file, empty if unknown
	Context   string // in a context-sensitive profile, the calls that lead to the function, such as "main:3 @ f"
	Hash      uint64 // hash of the control flow graph, 0 if the profile has none
	HeadCount uint64 // number of calls of the function, 0 if unknown
	records   iter.Seq2[Record, error]
}

// Records iterates over the records of the function. The records of a function that was inlined
// into it follow the record of the call. Each call of Records starts from the beginning. An error
// is the last element.
func (f *Function) Records() iter.Seq2[Record, error] { return f.records }

// A Record describes a place in a function.
type Record struct {
	Kind Kind

	// Depth is the number of enclosing inlined functions, 0 in the function itself.
	Depth int

	// Line and Discriminator are the place. Line counts from the function's declaration; in a
	// profile with pseudo-probes it is the number of the probe. Column is known only for
	// allocations.
	Line          uint32
	Discriminator uint32
	Column        uint32

	// Index is the number of the counter or value site in instrumentation profiles, which have no
	// lines.
	Index int

	Name  Name   // the called or inlined function, the value, or the function with the allocation
	Value uint64 // recorded value, or number of allocated bytes
	Count uint64 // number of samples, calls or occurrences
}

// A Kind is the kind of a [Record].
type Kind uint8

// The kinds of records.
const (
	Samples    Kind = iota + 1 // Count samples were taken at the place
	Call                       // Name was called from the place Count times
	Inlined                    // Name was inlined at the place; its records follow, one level deeper
	Counter                    // the counter Index has the value Count
	Value                      // Name, which is a type, or Value occurred Count times
	Allocation                 // Value bytes were allocated at the place, in Count allocations
)

var kindNames = [...]string{"none", "samples", "call", "inlined", "counter", "value", "allocation"}

// String returns a word for the kind, or its number if it is unknown.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// single implements the units of a profile whose format has no source files: all functions are in
// one unit.
type single struct{ file fileless }

// A fileless yields the functions of a profile whose format has no source files.
type fileless interface {
	functions(yield func(*Function, error) bool)
}

func (s single) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) { yield(Unit{functions: s.file.functions}, nil) }
}

func (s single) unit(path string) (Unit, error) {
	if path != "" {
		return Unit{}, afdo.ErrNotFound
	}
	return Unit{functions: s.file.functions}, nil
}

// eachOf calls yield with the function that convert returns for each record. It ends when yield
// returns false, or after it has called yield with the first error of records.
func eachOf[R any](records iter.Seq2[R, error], convert func(R) *Function, yield func(*Function, error) bool) {
	for r, err := range records {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(convert(r), nil) {
			return
		}
	}
}
