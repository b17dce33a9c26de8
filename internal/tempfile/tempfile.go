// Package tempfile makes temporary files that are gone with the process, however that ends.
package tempfile

import (
	"errors"
	"os"
)

// A File is a temporary file without a name. On systems that keep the name of an open file, Close
// removes it.
type File struct {
	*os.File
	named bool
}

// Create makes a file in a folder, or in that of temporary files if dir is empty. The pattern is
// that of [os.CreateTemp].
func Create(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return File{}, err
	}
	return File{f, os.Remove(f.Name()) != nil}, nil
}

// Close gives the file back.
func (f File) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
