package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
)

// A Store is a folder of files that can be made again, by kind and key. All that goes wrong with it
// counts as empty. A nil Store is empty and stays so. Any number of processes may use one folder.
type Store struct {
	dir string

	// MaxSize is how many bytes the cache holds at most, and MaxAge for how long an unused file is
	// kept. Both are 0 unless [OpenLimited] has set them.
	MaxSize int64
	MaxAge  time.Duration
}

// ErrNone matches errors for a missing cache.
var ErrNone = errors.New("no cache")

// OpenStore returns the store in a folder, and makes the folder if necessary. The folder must
// belong to the user, and no other user may write to it. The same holds for the folders in it,
// because commands of the folder for plans are executed.
func OpenStore(dir string) (*Store, error) {
	if err := MakePrivate(dir); err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		folder := filepath.Join(dir, kind)
		info, err := os.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = checkFolder(folder, info)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Store{dir: dir}, nil
}

// DefaultDir returns the path of the cache's folder: $AFDO_CACHE_DIR, or the folder afdo of
// $XDG_CACHE_HOME or of the system's folder for caches.
func DefaultDir() (string, error) {
	if dir := os.Getenv("AFDO_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil || os.Getenv("XDG_CACHE_HOME") != "" {
		return filepath.Join(base, "afdo"), err
	}
	// Package builds have a home that does not exist, and nobody would ever clean a cache below it.
	if home, err := os.UserHomeDir(); err == nil {
		if _, err := os.Stat(home); err != nil {
			return "", err
		}
	}
	return filepath.Join(base, "afdo"), nil
}

// Default opens the store in the folder that [DefaultDir] returns, with limits. Its errors match
// [ErrNone].
func Default() (*Store, error) {
	dir, err := DefaultDir()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return OpenLimited(dir)
}

// Dir returns the path of the folder.
func (c *Store) Dir() string { return c.dir }

// MakePrivate makes a folder unless it is there, and makes sure that only the user can write to it.
// It may be a link of the user's own, but not one that somebody else has put there.
func MakePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := checkOwner(dir, info); err != nil {
			return err
		}
		info, err = os.Stat(dir)
	}
	if err != nil {
		return err
	}
	return checkFolder(dir, info)
}

// checkFolder makes sure that a path is a folder that only the user can write to.
func checkFolder(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	return checkPrivate(dir, info)
}

// The kinds, which are the folders in the cache.
const (
	Compilers = "compilers" // versions of compilers
	Inputs    = "inputs"    // what compiles read
	Stamps    = "stamps"    // out of what slices were made
	Slices    = "slices"    // slices for compilers, where none can be put beside an object
	Arcs      = "arcs"      // folders with counters for GCC
	Notes     = "notes"     // notes of compiles
	Taken     = "taken"     // copies of all slices, by the hash of what they were made of
	Profiles  = "profiles"  // profiles with an index
	Plans     = "plans"     // commands that run again while nothing that decided them changes
	Said      = "said"      // what has been said in this build
)

var kinds = []string{Compilers, Inputs, Stamps, Slices, Arcs, Notes, Taken, Profiles, Plans, Said}

// Path returns where something with a key is kept. It makes the folder, and fails if it cannot.
func (c *Store) Path(kind, key string) (string, error) {
	if c == nil {
		return "", ErrNone
	}
	path := c.pathOf(kind, key)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

func (c *Store) pathOf(kind, key string) string {
	return filepath.Join(c.dir, kind, fmt.Sprintf("%016x", xxhash.Sum64String(key)))
}

// maxFile is the size of the largest file that Get reads.
const maxFile = 1 << 30

// Get returns the data that Put stored for a key.
func (c *Store) Get(kind, key string) (data []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	path := c.pathOf(kind, key)
	data, err := files.ReadFile(path, maxFile)
	if err != nil || len(data) < 8 {
		return nil, false
	}
	data, sum := data[:len(data)-8], data[len(data)-8:]
	if binary.LittleEndian.Uint64(sum) != cacheSum(key, data) {
		return nil, false
	}
	MarkUsed(path)
	return data, true
}

// cacheSum distinguishes a whole file from a damaged one, and keys with the same file name.
func cacheSum(key string, data []byte) uint64 {
	h := xxhash.New()
	_, _ = h.WriteString(key)
	_, _ = h.Write(data)
	return h.Sum64()
}

// Put keeps data under a key. The file appears whole or not at all.
func (c *Store) Put(kind, key string, data []byte) {
	path, err := c.Path(kind, key)
	if err == nil {
		_ = files.Replace(path, binary.LittleEndian.AppendUint64(data[:len(data):len(data)], cacheSum(key, data)))
	}
}

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
	for _, kind := range kinds {
		folder := filepath.Join(c.dir, kind)
		if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			info, err := e.Info()
			if err != nil || !isOwn(e.Name()) || !info.Mode().IsRegular() && (kind != Arcs || !info.IsDir()) {
				continue // removed by another process, or not a file of the store
			}
			found = append(found, cacheFile{path, sizeOf(path, info), info.ModTime()})
		}
	}
	return found, nil
}

// sizeOf returns the size of a file, or of the files in a folder.
func sizeOf(path string, info fs.FileInfo) int64 {
	if !info.IsDir() {
		return info.Size()
	}
	var size int64
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed by another process
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
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
		if err := remove(f.path); err != nil {
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

// remove removes a file or a folder.
func remove(path string) error {
	err := os.Remove(path)
	if info, statErr := os.Lstat(path); statErr == nil && info.IsDir() {
		return os.RemoveAll(path)
	}
	return err
}

// dueForTrim reports whether files have not been removed within the hour, and takes it that they
// are now.
func (c *Store) dueForTrim() bool {
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
	return err != nil || !said(info, time.Now())
}

// saidMode marks a file of something that has been said. The lock makes the file first, and a full
// disk takes a mode where it takes no text.
const saidMode = 0o700

func said(info fs.FileInfo, now time.Time) bool {
	return info.Mode().Perm() == saidMode && now.Sub(info.ModTime()) <= sameBuild
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
	before := err == nil && said(info, now)
	_ = os.Chmod(path, saidMode)
	_ = os.Chtimes(path, now, now)
	return !before
}
