//go:build !linux

package files

import "os"

// isOfKernel returns false: only Linux has files whose content the kernel generates.
func isOfKernel(*os.File) bool { return false }
