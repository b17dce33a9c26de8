package files

import (
	"os"
	"syscall"
)

// kernelFilesystems lists the types of file systems whose content the kernel generates when it is
// read: proc, sysfs, tracefs and debugfs (linux/magic.h).
var kernelFilesystems = map[uint32]bool{0x9fa0: true, 0x62656572: true, 0x74726163: true, 0x64626720: true}

// isOfKernel reports whether the kernel generates the content of a file, such as /proc/kmsg. Such a
// file claims to be regular, but reading it may wait forever.
func isOfKernel(f *os.File) bool {
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &s) == nil && kernelFilesystems[uint32(s.Type)]
}
