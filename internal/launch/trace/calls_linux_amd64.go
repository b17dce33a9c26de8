package trace

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_X86_64

// olderCalls are system calls that only older architectures have.
var olderCalls = []call{
	{unix.SYS_OPEN, Open, 0, 1},
	{unix.SYS_STAT, Status, 0, -1},
	{unix.SYS_LSTAT, Status, 0, -1},
	{unix.SYS_ACCESS, Status, 0, -1},
	{unix.SYS_READLINK, Link, 0, -1},
	{unix.SYS_GETDENTS, List, 0, -1},
}
