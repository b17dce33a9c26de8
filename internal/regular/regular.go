// Package regular opens regular files and nothing else, and tells whether they have changed.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// ErrOther is matched by the error about what is no regular file.
var ErrOther = errors.New("not a regular file")

// Open opens a regular file and tells what it is. Anything else gives an error at once: to open a
// FIFO would wait for a writer.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrOther}
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

// A Watch tells whether a file is still as it was. The zero value watches nothing.
type Watch struct {
	file interface{ Stat() (fs.FileInfo, error) }
	info fs.FileInfo
}

// Watching watches a file, if that is what src is.
func Watching(src any) Watch {
	file, ok := src.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return Watch{}
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Watch{}
	}
	return Watch{file, info}
}

// Changed reports whether the file has another size or another time than it had, as far as that can
// be told.
func (w Watch) Changed() bool {
	if w.file == nil {
		return false
	}
	info, err := w.file.Stat()
	return err == nil && (info.Size() != w.info.Size() || !info.ModTime().Equal(w.info.ModTime()))
}
