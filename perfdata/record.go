package perfdata

// A Record is one of *[Sample], *[Mmap], *[Comm], *[Fork], *[Exit], *[Lost] and *[Throttle]. It and
// what it refers to, strings apart, are valid until the next one is asked for.
type Record interface{ record() }

// UnknownPID is the process of records that do not tell theirs, and of the kernel's mappings.
const UnknownPID = -1

// A Mode says whose code the processor was running.
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

// Guest reports whether the processor ran a virtual machine: its addresses are not those of the
// host.
func (m Mode) Guest() bool { return m == ModeGuestKernel || m == ModeGuestUser }

// A Sample is one sample of an event. Fields that were not recorded are zero; PID and TID are
// UnknownPID.
type Sample struct {
	Event    int // index into Reader.Events; 0 in perf script
	Mode     Mode
	PID, TID int32
	Time     uint64 // in nanoseconds of the recording's clock; 0 if not recorded
	IP       uint64
	Addr     uint64
	Period   uint64
	Stack    []uint64 // the call chain, innermost first, with the kernel's context markers in between
	Raw      []byte   // what a tracepoint or a device has added
	Branches []Branch // the branch stack, newest first

	// Objects are the files that perf script names beside the addresses of Stack, "" where it does
	// not. perf.data has none.
	Objects []string

	// Object is the file that perf script names beside the address. With call chains, perf prints
	// offsets into that file for user code, not addresses.
	Object string

	// Symbol is the function that perf script names beside the address, "" if it does not.
	Symbol string
}

// A Branch is an entry of a branch stack: a branch that was taken.
type Branch struct {
	From, To uint64
	Flags    BranchFlags
}

// BranchFlags are the bit fields of perf_branch_entry: what the processor records about a branch.
type BranchFlags uint64

// Mispredicted reports whether the branch went another way than predicted.
func (f BranchFlags) Mispredicted() bool { return f&1 != 0 }

// Predicted reports whether the branch went the way that was predicted. If neither this nor
// [BranchFlags.Mispredicted] is true, the processor does not record predictions.
func (f BranchFlags) Predicted() bool { return f&2 != 0 }

// Cycles returns the processor cycles since the branch before, 0 if not known.
func (f BranchFlags) Cycles() int { return int(f >> 4 & 0xffff) }

// WrongPath reports whether the branch was speculation that turned out wrong: it never happened.
func (f BranchFlags) WrongPath() bool { return f>>24&3 == 1 }

// notTaken is a bit that the kernel does not use.
const notTaken BranchFlags = 1 << 63

// NotTaken reports whether the branch was conditional and not taken, so that code went on behind
// it: To is the next instruction. Only the text of perf script tells, for Arm SPE.
func (f BranchFlags) NotTaken() bool { return f&notTaken != 0 }

// An Mmap tells that a process has mapped a file.
type Mmap struct {
	PID, TID   int32  // UnknownPID for the kernel
	Time       uint64 // 0 if not recorded
	Start      uint64 // the first address
	Length     uint64 // in bytes
	PageOffset uint64 // the file offset of Start; of the kernel, the address of a symbol: see Path
	Executable bool
	Path       string // "[kernel.kallsyms]" and the name of a symbol for the kernel
	BuildID    string // of the file, in hexadecimal digits; "" if not recorded here
}

// A Comm tells a new name of a thread.
type Comm struct {
	PID, TID int32
	Time     uint64
	Exec     bool // it runs another program, and all its mappings are gone
	Name     string
}

// A Fork tells of a new thread: a process if PID and ParentPID differ, which has its parent's
// mappings.
type Fork struct {
	PID, ParentPID int32
	TID, ParentTID int32
	Time           uint64
}

// An Exit tells that a thread has ended.
type Exit struct {
	PID, TID int32
	Time     uint64
}

// A Lost tells that records are missing: there was no room for them, since the recorder came too
// late.
type Lost struct {
	Count uint64
	Time  uint64 // 0 if not recorded
}

// A Throttle tells that the kernel stopped an event for a moment, since it took too much of a
// processor's time.
type Throttle struct{ Time uint64 }

func (*Sample) record()   {}
func (*Mmap) record()     {}
func (*Comm) record()     {}
func (*Fork) record()     {}
func (*Exit) record()     {}
func (*Lost) record()     {}
func (*Throttle) record() {}
