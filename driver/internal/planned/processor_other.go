//go:build !unix

package driver

import "time"

var begin = time.Now()

// processorTime returns how long this process has run. Some systems do not report its processor
// time.
func processorTime() time.Duration { return time.Since(begin) }
