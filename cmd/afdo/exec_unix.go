//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// replaceProcess turns this process into another program, whose exit status
// and signals then are its own.
func (e *env) replaceProcess(argv, environment []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	err = syscall.Exec(path, argv, environment)
	return &os.PathError{Op: "exec", Path: path, Err: err}
}
