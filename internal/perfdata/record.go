package perfdata

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Record is one of *[Sample], *[Mmap], *[Comm], *[Fork], *[Exit], *[Lost] and *[Throttle]. Except
// for strings, it and everything it refers to are valid until the next record is read.
type Record interface{ record() }

// UnknownPID is the process ID in records without one, and in the kernel's mappings.
const UnknownPID = -1

// A Mode says whose code the processor was running: that of a user, of the kernel, of a hypervisor
// or of a virtual machine.
type Mode uint8

// Modes, as in the lowest bits of perf_event_header.misc.
const (
	ModeUnknown     Mode = 0
	ModeKernel      Mode = 1
	ModeUser        Mode = 2
	ModeHypervisor  Mode = 3
	ModeGuestKernel Mode = 4
	ModeGuestUser   Mode = 5
)

// Guest reports whether the processor ran a virtual machine, whose addresses are not those of the
// host.
func (m Mode) Guest() bool { return m == ModeGuestKernel || m == ModeGuestUser }

// A Sample is one sample of an event. Fields that were not recorded are zero, except that PID and
// TID are UnknownPID.
type Sample struct {
	Event    int // index in Reader.Events; always 0 for perf script
	Mode     Mode
	PID, TID int32
	Time     uint64 // nanoseconds of the recording's clock, 0 if not recorded
	IP       uint64
	Addr     uint64
	Period   uint64
	Stack    []uint64 // call chain, innermost first, including the kernel's context markers
	Raw      []byte   // extra data of a tracepoint or device
	Branches []Branch // branch stack, newest first

	// EventName is the event that perf script prints, or "". It is "" for perf.data.
	EventName string

	// Objects holds the file that perf script prints after each address of Stack, or "". It is nil
	// for perf.data.
	Objects []string

	// Object is the file that perf script prints after the address. In call chains, perf prints
	// offsets in this file instead of addresses for user code.
	Object string

	// Symbol is the function that perf script prints after the address, or "".
	Symbol string
}

// A Branch is a branch that the processor has recorded in a branch stack: from which address to
// which address it led.
type Branch struct {
	From, To uint64
	Flags    BranchFlags
}

// BranchFlags contains the bit fields of perf_branch_entry, which describe a branch. Text of perf
// script only sets the fields that the methods of BranchFlags return.
type BranchFlags uint64

// WrongPath reports whether the branch was executed speculatively on a wrong path, so that it never
// took effect.
func (f BranchFlags) WrongPath() bool { return f>>24&3 == 1 }

// notTaken is the flag of a branch that was not taken, in a bit that the kernel does not use.
const notTaken BranchFlags = 1 << 63

// NotTaken reports whether the branch was conditional and not taken. To is then the next
// instruction. Only the text of perf script shows this, for Arm SPE.
func (f BranchFlags) NotTaken() bool { return f&notTaken != 0 }

// copiedShift is the first bit of a number that the kernel does not write into the flags of a
// branch: the result of [BranchFlags.Copied] plus 1, in copiedBits bits.
const (
	copiedShift = 40
	copiedBits  = 20

	copied BranchFlags = (1<<copiedBits - 1) << copiedShift
)

// Copied returns how many bytes memcpy, memmove, mempcpy or memset handled in the call from which
// the branch returned. It returns false if the branch is not such a return. Only recordings by
// steps know it.
func (f BranchFlags) Copied() (bytes uint64, known bool) {
	n := uint64(f&copied) >> copiedShift
	return n - 1, n > 0
}

// FlagsOfCopy returns the flags of a branch that returns from a function that has copied bytes, see
// [BranchFlags.Copied]. A number of 2^20 - 1 bytes or more is unknown.
func FlagsOfCopy(bytes int) BranchFlags {
	if bytes < 0 || bytes >= 1<<copiedBits-1 {
		return 0
	}
	return BranchFlags(bytes+1) << copiedShift
}

// An Mmap records that a process mapped a file into its memory, for example a library.
type Mmap struct {
	PID, TID   int32  // UnknownPID for the kernel
	Time       uint64 // 0 if not recorded
	Start      uint64 // first address
	Length     uint64 // in bytes
	PageOffset uint64 // file offset of Start; for the kernel, the address of the symbol in Path
	Executable bool
	Path       string // for the kernel, "[kernel.kallsyms]" followed by the name of a symbol
	BuildID    string // build ID of the file in hexadecimal, "" if not recorded here
}

// StepsReport is a prefix of Comm.Name. After this prefix, the name is not the name of a thread,
// but JSON with the statistics of the recorder by steps. Names that the kernel records have at most
// 15 bytes, so they cannot be mistaken for it.
const StepsReport = "afdo-steps "

// A Comm records the new name of a thread.
type Comm struct {
	PID, TID int32
	Time     uint64
	Exec     bool // the process executed another program, so all its mappings are gone
	Name     string
}

// A Fork records a new thread. If PID and ParentPID differ, it is a new process, which has the
// mappings of its parent.
type Fork struct {
	PID, ParentPID int32
	TID, ParentTID int32
	Time           uint64
}

// An Exit records the end of a thread.
type Exit struct {
	PID, TID int32
	Time     uint64
}

// A Lost records that the kernel has lost records, because perf did not read its buffer fast
// enough.
type Lost struct {
	Count uint64
	Time  uint64 // 0 if not recorded
}

// A Throttle records that the kernel paused an event because it took too much processor time.
type Throttle struct{ Time uint64 }

func (*Sample) record()   {}
func (*Mmap) record()     {}
func (*Comm) record()     {}
func (*Fork) record()     {}
func (*Exit) record()     {}
func (*Lost) record()     {}
func (*Throttle) record() {}

// A Trace is a kind of processor trace, which perf.data may contain instead of samples. This
// package does not decode traces; perf can convert them to samples.
type Trace uint32

// Kinds of traces, numbered as in perf's auxtrace.h. OtherTrace is any later kind.
const (
	NoTrace Trace = iota
	IntelPT
	IntelBTS
	CoreSightETM
	ArmSPE
	S390CPUMF
	OtherTrace
)

var traceNames = [...]string{
	NoTrace: "no trace", IntelPT: "an Intel PT trace", IntelBTS: "an Intel BTS trace", CoreSightETM: "a CoreSight ETM trace",
	ArmSPE: "an Arm SPE trace", S390CPUMF: "a trace of s390's CPU-MF", OtherTrace: "a trace of the processor",
}

func (t Trace) String() string { return traceNames[t] }

// Trace returns the kind of trace in the records read so far.
func (r *Reader) Trace() Trace { return r.trace }

// noteTrace stores the kind of the processor trace that record raw describes.
func (r *Reader) noteTrace(raw rawRecord) {
	c := newCursor(raw.data, r.big)
	if kind := Trace(c.Uint32(field)); c.Err == nil && kind > NoTrace {
		r.trace = min(kind, OtherTrace)
	}
}

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// ErrRecord: the size of a record is smaller than its header or larger than the remaining data.
	ErrRecord = errors.New("bad record")

	// ErrEvent: the event of a record is missing, or not described in the file.
	ErrEvent = errors.New("unknown event")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not a perf.data file")

// faultAt returns an error about a file offset. In compressed data, this is the offset of the
// compressed record.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "perf.data", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
