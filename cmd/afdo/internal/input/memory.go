package input

import (
	"os"
	"runtime/debug"
	"sync/atomic"
)

// How much memory the process should take for the files that it reads, with a margin for what the
// limit does not count: some 13 MB of the program itself, and what is allocated while the collector
// is at work, which is more where it has to wait for a processor. Most take far less; the garbage
// collector takes more pains with files that are made to need more, see SECURITY.md. The limit is a
// soft one: nothing fails for it.
const (
	memoryPerByte = 36
	freeMemory    = 32 << 20
	allowEvery    = 1 << 20 // how much of a compressed file is unpacked before memory is allowed for it
)

// limited is set once the process is to keep its memory in proportion.
var limited atomic.Bool

// opened is the size of all files that were opened.
var opened atomic.Int64

// LimitMemory has the process keep its memory in proportion to the files that are opened from now
// on, unless the environment sets a limit with GOMEMLIMIT. It is for main functions: the limit is
// that of the whole process, see [debug.SetMemoryLimit].
func LimitMemory() { limited.Store(os.Getenv("GOMEMLIMIT") == "") }

// allowMemory allows for a file of a size.
func allowMemory(size int64) {
	if all := opened.Add(size); limited.Load() {
		debug.SetMemoryLimit(freeMemory + memoryPerByte*all)
	}
}
