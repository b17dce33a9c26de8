package tune

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/internal/files"
)

// errFolder is wrapped by the error for a working folder that tune refuses: it has files of others
// or symbolic links, or contains the source tree.
var errFolder = errors.New("this folder cannot hold the copies")

// tagFile is a file in the working folder that marks it as made by tune, and tagText is its
// content. Backups skip folders with this file (https://bford.info/cachedir/).
const (
	tagFile = "CACHEDIR.TAG"
	tagText = "Signature: 8a477f597d28d172789f06886806bc55\n# Copies of the sources, made by \"afdo tune\".\n"
)

// maxOwn is the size of the largest file in the working folder that tune reads. The commands of the
// build may write files there, too.
const maxOwn = 1 << 30

// claimFolder makes the working folder of tune. If the folder exists, claimFolder checks that it is
// empty, or that it has tune's mark. It also checks that the folder has no symbolic link, which
// tune never makes there. The checks are necessary because tune deletes and overwrites files in the
// folder.
func claimFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("tune: %s: %w: %s is a symbolic link", folder, errFolder, e.Name())
		}
	}
	if mark, err := files.ReadFile(filepath.Join(folder, tagFile), int64(len(tagText))); len(entries) > 0 && (err != nil || string(mark) != tagText) {
		return fmt.Errorf("tune: %s: %w: it contains files that tune did not make; choose an empty or a new folder", folder, errFolder)
	}
	return cmp.Or(files.Replace(filepath.Join(folder, tagFile), []byte(tagText)), files.Replace(filepath.Join(folder, ".gitignore"), []byte("*\n")))
}

// emptyFolder makes an empty folder. It removes an existing one with all of its files.
func emptyFolder(path string) error {
	return cmp.Or(os.RemoveAll(path), os.MkdirAll(path, 0o777))
}
