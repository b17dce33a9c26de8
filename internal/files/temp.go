package files

import (
	"errors"
	"os"
)

// A Temp is a temporary file without a name, so it disappears with the process. On systems that
// keep the name of an open file, Close removes it.
type Temp struct {
	*os.File
	named bool
}

// CreateTemp makes a temporary file in a folder, or in the folder for temporary files if dir is
// empty. The pattern is that of [os.CreateTemp].
func CreateTemp(dir, pattern string) (Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return Temp{}, err
	}
	return Temp{f, os.Remove(f.Name()) != nil}, nil
}

// Close frees the file.
func (t Temp) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
