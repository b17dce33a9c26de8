package input

import (
	"runtime/debug"
	"sync/atomic"
)

// How much memory the process should take for the files that it reads, with a margin for what the
// limit does not count. Most take far less; the garbage collector takes more pains with files that
// are made to need more, see SECURITY.md. The limit is a soft one: nothing fails for it.
const (
	memoryPerByte = 36
	freeMemory    = 40 << 20
	allowEvery    = 1 << 20 // how much of a compressed file is unpacked before memory is allowed for it
)

// opened is the size of all files that were opened.
var opened atomic.Int64

// allowMemory allows for a file of a size.
func allowMemory(size int64) {
	debug.SetMemoryLimit(freeMemory + memoryPerByte*opened.Add(size))
}
