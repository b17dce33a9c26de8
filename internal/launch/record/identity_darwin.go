package record

import (
	"io/fs"
	"syscall"
)

// identity returns numbers of a file that change when the file is replaced, even if its
// modification time is set back: device, inode, and the time of the last status change.
func identity(info fs.FileInfo) []int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return []int64{int64(s.Dev), int64(s.Ino), s.Ctimespec.Sec, s.Ctimespec.Nsec}
	}
	return nil
}
