package files

import (
	"errors"
	"os"
	"path/filepath"
)

// MakeWithin makes a folder whose name comes from another file, below the folder dir, and returns
// its path. A name or a symbolic link that leads out of dir is an error.
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
