//go:build !unix

package main

import "os"

// peakMemory returns 0, since this system does not provide it.
func peakMemory(*os.ProcessState) int64 { return 0 }
