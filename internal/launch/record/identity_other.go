//go:build !linux && !darwin

package record

import "io/fs"

// identity returns nil: on this system only a file's size and modification time show that it was
// replaced.
func identity(fs.FileInfo) []int64 { return nil }
