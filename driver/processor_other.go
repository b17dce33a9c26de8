//go:build !unix

package driver

import "time"

var begin = time.Now()

// processorTime returns how long this process has run: that is what can be told everywhere.
func processorTime() time.Duration { return time.Since(begin) }
