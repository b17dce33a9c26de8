package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
)

// The time of a file in the cache is when it was last used, give or take an hour.
const usedWithin = time.Hour

// MarkUsed notes that a file has been used.
func MarkUsed(path string) {
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > usedWithin {
		_ = os.Chtimes(path, now, now)
	}
}

// A cacheFile is a file in the cache.
type cacheFile struct {
	path string
	size int64
	used time.Time
}

// hashName matches the names of the files that a store makes: a hash, or the lock of a hash.
var hashName = pattern.Of(`^[0-9a-f]{16}(-lock)?$`)

// isOwn reports whether a store has made the file of a name.
func isOwn(name string) bool { return hashName().MatchString(name) || files.IsPending(name) }

// files lists the files that can be removed. The statistics stay, and so do files that no store has
// made. A symbolic link in the place of a folder is not followed.
func (c *Store) files() ([]cacheFile, error) {
	if c == nil {
		return nil, nil
	}
	var found []cacheFile
	for _, kind := range []string{Compilers, Inputs, Stamps, Slices, Taken, Profiles, Plans, Said} {
		folder := filepath.Join(c.dir, kind)
		if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || !isOwn(e.Name()) {
				continue // removed by another process, or not a file of the store
			}
			found = append(found, cacheFile{filepath.Join(folder, e.Name()), info.Size(), info.ModTime()})
		}
	}
	return found, nil
}

// Usage returns how many files there are that can be removed, and their bytes.
func (c *Store) Usage() (n int, bytes int64, err error) {
	found, err := c.files()
	for _, f := range found {
		bytes += f.size
	}
	return len(found), bytes, err
}

// Remove removes files until the rest, which was used last, has at most size bytes, and no file is
// older than age. It returns how many files it has removed, and their size in bytes.
func (c *Store) Remove(size int64, age time.Duration) (n int, bytes int64, err error) {
	found, err := c.files()
	if err != nil {
		return 0, 0, err
	}
	slices.SortFunc(found, func(a, b cacheFile) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	now := time.Now()
	for _, f := range found {
		fresh := files.IsPending(filepath.Base(f.path)) && now.Sub(f.used) < usedWithin // a process is writing it
		if fresh || size > 0 && f.size <= size && now.Sub(f.used) <= age {
			size -= f.size
			continue
		}
		if err := os.Remove(f.path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return n, bytes, err
		}
		n++
		bytes += f.size
	}
	return n, bytes, nil
}

// DueForTrim reports whether files have not been removed within the hour, and takes it that they
// are now.
func (c *Store) DueForTrim() bool {
	if !c.TrimDue() {
		return false
	}
	mark := c.trimMark()
	if os.WriteFile(mark, nil, 0o600) != nil {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(mark, now, now) // an empty file that is written anew need not change its time
	return true
}

// TrimDue reports whether files have not been removed within the hour.
func (c *Store) TrimDue() bool {
	info, err := os.Stat(c.trimMark())
	return err != nil || time.Since(info.ModTime()) >= usedWithin
}

// trimMark returns the path of the file whose time is when files were last removed.
func (c *Store) trimMark() string { return filepath.Join(c.dir, "trimmed") }

// sameBuild is for how long there may be no compile in a build.
const sameBuild = 5 * time.Minute

// Due reports whether Once would say that something is to be said.
func (c *Store) Due(what string) bool {
	if c == nil {
		return true
	}
	info, err := os.Stat(c.pathOf(Said, what))
	return err != nil || info.Size() == 0 || time.Since(info.ModTime()) > sameBuild
}

// Once reports whether something is to be said: it has not been since the build began, that is,
// no process has wanted to say it for some minutes. Without a cache it is said every
// time. The lock lets one of several say it: without, two could take the same old file for theirs.
func (c *Store) Once(what string) bool {
	path, err := c.Path(Said, what)
	if err != nil {
		return true
	}
	unlock, err := LockFile(path)
	if err != nil {
		return true
	}
	defer unlock()
	now := time.Now()
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 && now.Sub(info.ModTime()) <= sameBuild {
		_ = os.Chtimes(path, now, now)
		return false
	}
	_ = os.WriteFile(path, []byte("said\n"), 0o600)
	return true
}
