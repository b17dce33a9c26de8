package files

import (
	"errors"
	"os"
	"path/filepath"
)

// MakeWithin creates a folder below dir and returns its path. It is for names that come from
// another file: a name or a symbolic link that leads out of dir is an error.
func MakeWithin(dir, name string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	err = errors.Join(root.MkdirAll(name, 0o777), root.Close())
	return filepath.Join(dir, name), err
}
