//go:build unix

package planned

import (
	"syscall"
	"time"
)

// ProcessorTime returns how long this process has kept the processor busy, together with the
// programs that it has run and that have ended.
func ProcessorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
