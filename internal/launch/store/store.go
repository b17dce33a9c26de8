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
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/pattern"
)

// A Store is a folder of cached files, which are found by kind and key and can be made again. A
// file that cannot be read or written counts as missing. A nil Store is always empty. Any number of
// processes may use one folder.
type Store struct {
	dir string

	// MaxSize is the maximum size of the cache in bytes, and MaxAge how long an unused file is
	// kept. Both are 0 unless [OpenLimited] has set them.
	MaxSize int64
	MaxAge  time.Duration
}

// ErrNone matches the errors for a cache that cannot be opened.
var ErrNone = errors.New("no cache")

// OpenStore opens the store in a folder, and makes the folder if necessary. The folder and its
// subfolders must belong to the user, and no other user may write to them, because the launcher
// executes cached commands.
func OpenStore(dir string) (*Store, error) {
	if err := MakePrivate(dir); err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		folder := filepath.Join(dir, kind)
		info, err := os.Lstat(folder)
		if err == nil {
			err = checkFolder(folder, info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return &Store{dir: dir}, nil
}

// defaultDir returns the path of the cache folder: $AFDO_CACHE_DIR, or else the folder afdo in
// $XDG_CACHE_HOME or in the system's folder for caches.
func defaultDir() (string, error) {
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

// Default opens the store in the folder that [defaultDir] returns, with the limits of
// [OpenLimited]. Its errors match [ErrNone].
func Default() (*Store, error) {
	dir, err := defaultDir()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return OpenLimited(dir)
}

// Dir returns the path of the store's folder.
func (c *Store) Dir() string { return c.dir }

// MakePrivate makes a folder unless it exists, and returns an error if other users can write to it.
// The path may be a symbolic link, but only one that belongs to the user.
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

// checkFolder returns an error if dir is not a folder or if other users can write to it.
func checkFolder(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	return checkPrivate(dir, info)
}

// These are the kinds of cached files. Each kind has a folder of this name in the cache.
const (
	Compilers = "compilers" // versions of compilers, and hashes of their files
	Inputs    = "inputs"    // records of the files that compiles read
	Stamps    = "stamps"    // for each slice, a hash of what it was made of
	Slices    = "slices"    // slices that cannot be put beside an object
	Arcs      = "arcs"      // folders with arc counters for GCC
	Notes     = "notes"     // control-flow notes that GCC writes for arc counters
	Taken     = "taken"     // copies of all slices, by a hash of what they were made of
	Profiles  = "profiles"  // whole profiles, converted for a compiler or indexed
	Plans     = "plans"     // prepared compiler commands
	Said      = "said"      // empty files for the messages that this build has printed
)

// kinds are all kinds of cached files.
var kinds = []string{Compilers, Inputs, Stamps, Slices, Arcs, Notes, Taken, Profiles, Plans, Said}

// Path returns the path of the file with a kind and a key, whether or not it exists. It makes the
// folder of the kind.
func (c *Store) Path(kind, key string) (string, error) {
	if c == nil {
		return "", ErrNone
	}
	path := c.pathOf(kind, key)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// pathOf returns the path of the file with a kind and a key.
func (c *Store) pathOf(kind, key string) string {
	return filepath.Join(c.dir, kind, fmt.Sprintf("%016x", xxhash.Sum64String(key)))
}

// maxFile is the size of the largest file that Get reads.
const maxFile = 1 << 30

// Get returns the data that Put stored under a kind and a key. It returns false if there is none or
// it is damaged.
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

// cacheSum returns a checksum of a key and its data. It detects damaged files, and keys whose
// hashes are equal.
func cacheSum(key string, data []byte) uint64 {
	h := xxhash.New()
	_, _ = h.WriteString(key)
	_, _ = h.Write(data)
	return h.Sum64()
}

// Put stores data under a kind and a key. The file appears completely or not at all. Errors are
// ignored.
func (c *Store) Put(kind, key string, data []byte) {
	path, err := c.Path(kind, key)
	if err == nil {
		_ = files.Replace(path, binary.LittleEndian.AppendUint64(data[:len(data):len(data)], cacheSum(key, data)))
	}
}

// usedWithin is how old the modification time of a cached file may be before it is set anew when
// the file is used. So that time says when the file was last used, to within an hour, and most uses
// write nothing.
const usedWithin = time.Hour

// MarkUsed sets the modification time of a cached file to now if it is more than an hour old, so
// that Remove keeps the file.
func MarkUsed(path string) {
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > usedWithin {
		_ = os.Chtimes(path, now, now)
	}
}

// A cacheFile is a cached file that Remove may remove.
type cacheFile struct {
	path string
	size int64
	used time.Time
}

// hashName matches the names that a store gives to files: the hash of a key, or that hash and
// "-lock".
var hashName = pattern.Of(`^[0-9a-f]{16}(-lock)?$`)

// isOwn reports whether a store has made the file with a given name.
func isOwn(name string) bool { return hashName().MatchString(name) || files.IsPending(name) }

// files lists the cached files that Remove may remove. It leaves out the statistics and files that
// no store has made. It does not follow a symbolic link in the place of a folder.
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

// sizeOf returns the size of a file, or the total size of the files in a folder.
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

// Usage returns the number and the total size of the cached files that Remove may remove.
func (c *Store) Usage() (n int, bytes int64, err error) {
	found, err := c.files()
	for _, f := range found {
		bytes += f.size
	}
	return len(found), bytes, err
}

// Remove removes cached files that have not been used for longer than age, and then the least
// recently used ones until the others have at most size bytes. It returns the number and the total
// size of the removed files.
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
		if err := os.RemoveAll(f.path); err != nil {
			return n, bytes, err
		}
		n++
		bytes += f.size
	}
	return n, bytes, nil
}

// TrimNowAndThen removes files so that the cache keeps its limits, unless that was done within the
// last hour.
func (c *Store) TrimNowAndThen() {
	if c == nil || !c.TrimDue() {
		return
	}
	now := time.Now()
	if os.WriteFile(c.trimMark(), nil, 0o600) == nil && os.Chtimes(c.trimMark(), now, now) == nil { // an empty file may keep its time
		_, _, _ = c.Remove(c.MaxSize, c.MaxAge)
	}
}

// TrimDue reports whether the cache has to be trimmed, because the last check of its limits was
// more than an hour ago.
func (c *Store) TrimDue() bool {
	info, err := os.Stat(c.trimMark())
	return err != nil || time.Since(info.ModTime()) >= usedWithin
}

// trimMark returns the path of the file whose modification time is when the limits were last
// enforced.
func (c *Store) trimMark() string { return filepath.Join(c.dir, "trimmed") }

// sameBuild is the longest time between two equal messages of the same build. After a longer pause,
// a message counts as one of another build and is printed again.
const sameBuild = 5 * time.Minute

// Due reports whether a message should be printed, because no process has printed it in this build.
// Unlike [Store.Once], it does not record that the message is printed.
func (c *Store) Due(what string) bool {
	if c == nil {
		return true
	}
	info, err := os.Stat(c.pathOf(Said, what))
	return err != nil || !said(info, time.Now())
}

// saidMode is the mode of the file of a message that has been printed. LockFile makes the file with
// another mode before the message is printed. The mode is used because it can still be changed when
// the disk is full.
const saidMode = 0o700

// said reports whether a message was printed within the time of one build. info is that of the file
// which the store has for each printed message, and now is the current time.
func said(info fs.FileInfo, now time.Time) bool {
	return info.Mode().Perm() == saidMode && now.Sub(info.ModTime()) <= sameBuild
}

// Once reports whether a message should be printed, so that a build prints it only once: it returns
// true unless a process has called Once with the same text within the last few minutes. If there is
// no cache, it always returns true. A lock makes sure that only one of several processes gets true.
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

// These are the limits of a cache if $AFDO_CACHE_SIZE and $AFDO_CACHE_DAYS are not set.
const (
	defaultSize = 1 << 30
	defaultDays = 30
)

// ErrSetting is wrapped by the errors for an AFDO_CACHE_SIZE that is not a size, and for an
// AFDO_CACHE_DAYS that is not a number of days. It wraps [ErrNone].
var ErrSetting = fmt.Errorf("%w", ErrNone)

// OpenLimited opens the cache in the folder dir like [OpenStore], and sets its limits. These are
// $AFDO_CACHE_SIZE, in bytes or with the suffix K, M or G, and $AFDO_CACHE_DAYS, the number of days
// for which a file that no compile uses stays in the cache. All errors match [ErrNone]. The error
// of a wrong setting also matches [ErrSetting].
func OpenLimited(dir string) (*Store, error) {
	size, err := setting("AFDO_CACHE_SIZE", defaultSize)
	if err != nil {
		return nil, fmt.Errorf("%w: AFDO_CACHE_SIZE: %w", ErrSetting, err)
	}
	days, err := setting("AFDO_CACHE_DAYS", defaultDays)
	if err != nil || days > 1<<16 {
		return nil, fmt.Errorf("%w: AFDO_CACHE_DAYS: %q: want a number of days", ErrSetting, os.Getenv("AFDO_CACHE_DAYS"))
	}
	s, err := OpenStore(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	s.MaxSize, s.MaxAge = size, time.Duration(days)*24*time.Hour
	return s, nil
}

// setting returns the value of an environment variable as a number or size, or otherwise if the
// variable is not set.
func setting(name string, otherwise int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	return lines.ParseSize(text)
}
