package v4

import (
	"os"
	"syscall"
)

// stateOf returns the state of an open file. Unlike os.File.Stat it allocates nothing: each read of
// a mapped file asks for the state.
func stateOf(f *os.File) (fileState, error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
		return fileState{}, os.NewSyscallError("fstat", err)
	}
	return fileState{size: s.Size, modified: s.Mtim.Nano()}, nil
}
