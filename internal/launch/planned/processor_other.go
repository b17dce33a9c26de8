//go:build !unix

package planned

import "time"

// begin is the time when this process started, or a little later.
var begin = time.Now()

// ProcessorTime returns how long this process has run. Not all systems report its processor time.
func ProcessorTime() time.Duration { return time.Since(begin) }
