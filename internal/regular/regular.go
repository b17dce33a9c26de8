// Package regular opens regular files and nothing else.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a regular file and tells what it is. Anything else gives an error at once: to open a
// FIFO would wait for a writer.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil { // of what has been opened
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
