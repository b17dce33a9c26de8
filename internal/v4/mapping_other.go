//go:build !linux

package v4

import "os"

// stateOf returns the state of an open file.
func stateOf(f *os.File) (fileState, error) {
	info, err := f.Stat()
	if err != nil {
		return fileState{}, err
	}
	return fileState{info.Size(), info.ModTime().UnixNano()}, nil
}
