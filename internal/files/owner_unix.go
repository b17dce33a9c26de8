//go:build unix

package files

import (
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of its target, if this process runs as root:
// another user's file stays that user's.
func keepOwner(f *os.File, target string) {
	if os.Geteuid() != 0 {
		return
	}
	if info, err := os.Stat(target); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			_ = f.Chown(int(s.Uid), int(s.Gid))
		}
	}
}
