//go:build unix

package files

import (
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of the target that it will replace, if this
// process runs as root. So root does not take over the files of other users.
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
