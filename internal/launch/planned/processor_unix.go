//go:build unix

package planned

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process and of its children that have ended.
func ProcessorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
