//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// checkPrivate returns an error that says why other users can write to a folder, or nil if they
// cannot.
func checkPrivate(dir string, info fs.FileInfo) error {
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if info.Mode()&0o022 != 0 {
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("other users can write to the folder: run chmod go-w")}
	}
	return nil
}

// checkOwner returns an error if the folder or symbolic link dir belongs to another user.
func checkOwner(dir string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("the folder belongs to another user")}
	}
	return nil
}

// LockFile locks a file, and creates it if necessary. It waits while another process has the lock.
func LockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
