//go:build !unix

package bench

import "time"

// processorTime returns 0, because this system does not report the time.
func processorTime() time.Duration { return 0 }
