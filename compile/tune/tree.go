package tune

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// walk calls do for every file and folder of a source tree, except the paths in without, and .git.
func walk(tree string, without []string, do func(path, rel string, d fs.DirEntry) error) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		leftOut := slices.Contains(without, path) || d.Name() == ".git" && path != tree
		switch {
		case leftOut && d.IsDir():
			return filepath.SkipDir
		case leftOut:
			return nil
		}
		rel, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		return do(path, rel, d)
	})
}

// fingerprint returns a hash of the names, sizes and modification times of all files in a tree,
// except the paths in without.
func fingerprint(tree string, without []string) (string, error) {
	h := xxhash.New()
	err := walk(tree, without, func(_, rel string, d fs.DirEntry) error {
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00", rel, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return fmt.Sprintf("%x", h.Sum64()), err
}

// copyTree copies the folder tree, except the paths in without, to the folder to, which it deletes
// first. It keeps modification times, which make compares.
func copyTree(tree string, without []string, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return walk(tree, without, func(path, rel string, d fs.DirEntry) error {
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, target, info)
	})
}

// copyFile copies a file with its permissions and its modification time.
func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
