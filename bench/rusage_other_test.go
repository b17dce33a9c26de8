//go:build !unix

package bench

import "time"

// processorTime returns 0: this system does not say.
func processorTime() time.Duration { return 0 }
