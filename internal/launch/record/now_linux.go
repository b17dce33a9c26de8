package record

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the modification time that the kernel would give to a file that is written now: the
// time of the kernel clock's last tick, up to some milliseconds ago.
func Now() time.Time {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return time.Now()
	}
	return time.Unix(now.Unix())
}
