package record

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time that a file would get if it were changed now. That is the clock's last tick,
// some milliseconds ago.
func Now() time.Time {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return time.Now()
	}
	return time.Unix(now.Unix())
}
