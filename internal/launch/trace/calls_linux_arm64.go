package trace

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// olderCalls is empty: this architecture has no system calls that others have replaced.
var olderCalls []call
