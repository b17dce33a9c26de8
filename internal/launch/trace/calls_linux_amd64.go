package trace

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	statusAt     = unix.SYS_NEWFSTATAT
)

var calls = []call{
	{unix.SYS_OPENAT, Open, 1, 2},
	{unix.SYS_NEWFSTATAT, Status, 1, -1},
	{unix.SYS_OPEN, Open, 0, 1},
	{unix.SYS_STAT, Status, 0, -1},
	{unix.SYS_LSTAT, Status, 0, -1},
	{unix.SYS_ACCESS, Status, 0, -1},
	{unix.SYS_FACCESSAT, Status, 1, -1},
	{unix.SYS_FACCESSAT2, Status, 1, -1},
	{unix.SYS_STATX, Status, 1, -1},
	{unix.SYS_OPENAT2, Open, 1, -1},
	{unix.SYS_EXECVE, Open, 0, -1},
	{unix.SYS_READLINK, Link, 0, -1},
	{unix.SYS_READLINKAT, Link, 1, -1},
	{unix.SYS_GETDENTS64, List, 0, -1},
	{unix.SYS_GETDENTS, List, 0, -1},
}
