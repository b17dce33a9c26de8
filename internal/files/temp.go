package files

import (
	"errors"
	"os"
)

// A Temp is a temporary file that disappears when the process ends. It has no name where the system
// allows that; elsewhere, Close removes it.
type Temp struct {
	*os.File
	named bool // the file still has a name
}

// CreateTemp creates a temporary file in a folder, or in the system's folder for temporary files if
// dir is empty. pattern is as for [os.CreateTemp].
func CreateTemp(dir, pattern string) (Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return Temp{}, err
	}
	return Temp{f, os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, and removes it if it still has a name.
func (t Temp) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
