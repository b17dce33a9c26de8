package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A Cache is a folder of files that can be made again. All that goes wrong with it counts as empty.
// A nil Cache is empty and stays so. Any number of processes may use one folder.
//
// Whoever may write to the folder decides what compilers are given to read, so
// it has to be the user's own.
type Cache struct {
	dir     string
	maxSize int64
	maxAge  time.Duration
}

// What a cache holds at most, unless $AFDO_CACHE_SIZE and $AFDO_CACHE_DAYS say otherwise.
const (
	defaultCacheSize = 1 << 30
	defaultCacheDays = 30
)

// ErrNoCache is what the errors of [OpenCache] match.
var ErrNoCache = errors.New("no cache")

// OpenCache returns the cache in $AFDO_CACHE_DIR, or in the folder afdo of $XDG_CACHE_HOME or of
// what the system has for such things. The folder is made if need be. It must be the user's, and
// nobody else may write to it.
//
// The limits are $AFDO_CACHE_SIZE, in bytes or with a K, M or G behind it, and $AFDO_CACHE_DAYS,
// the days for which an unused file is kept.
//
// With an error, which is [ErrNoCache], the cache is nil.
func OpenCache() (*Cache, error) {
	dir, err := cacheDir()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCache, err)
	}
	c := &Cache{dir: dir}
	if c.maxSize, err = parseSize(os.Getenv("AFDO_CACHE_SIZE"), defaultCacheSize); err != nil {
		return nil, fmt.Errorf("%w: AFDO_CACHE_SIZE: %w", ErrNoCache, err)
	}
	days, err := parseSize(os.Getenv("AFDO_CACHE_DAYS"), defaultCacheDays)
	if err != nil || days > 1<<16 {
		return nil, fmt.Errorf("%w: AFDO_CACHE_DAYS: want a number of days", ErrNoCache)
	}
	c.maxAge = time.Duration(days) * 24 * time.Hour
	if err := makePrivate(dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCache, err)
	}
	return c, nil
}

// cacheDir returns the path of the cache's folder.
func cacheDir() (string, error) {
	if dir := os.Getenv("AFDO_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	return filepath.Join(base, "afdo"), err
}

// parseSize reads a number with K, M or G behind it. Nothing at all is the default.
func parseSize(text string, otherwise int64) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	digits := strings.TrimRight(text, "KMGkmg")
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}
	unit, ok := shift[strings.ToUpper(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > 1<<62>>unit {
		return 0, fmt.Errorf("%q: want a number, with K, M or G behind it if need be", text)
	}
	return n << unit, nil
}

// makePrivate makes a folder unless it is there, and makes sure that only the user can write to it.
func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	return checkPrivate(dir, info)
}

// Dir returns the path of the folder.
func (c *Cache) Dir() string { return c.dir }

// Limits returns how many bytes the cache holds at most, and for how long a file that nobody uses.
func (c *Cache) Limits() (size int64, age time.Duration) { return c.maxSize, c.maxAge }

// kinds are the folders in the cache.
const (
	kindCompilers = "compilers" // versions of compilers
	kindInputs    = "inputs"    // what compiles read
	kindStamps    = "stamps"    // out of what slices were made
	kindSlices    = "slices"    // slices that have no place beside an object
	kindProfiles  = "profiles"  // profiles with an index
	kindSaid      = "said"      // what has been said in this build
)

// path returns where something with a key is kept. It makes the folder, and fails if it cannot.
func (c *Cache) path(kind, key string) (string, error) {
	if c == nil {
		return "", ErrNoCache
	}
	path := c.pathOf(kind, key)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

func (c *Cache) pathOf(kind, key string) string {
	return filepath.Join(c.dir, kind, fmt.Sprintf("%016x", xxhash.Sum64String(key)))
}

// get returns what was put under a key.
func (c *Cache) get(kind, key string) (data []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	path := c.pathOf(kind, key)
	data, err := os.ReadFile(path)
	if err != nil || len(data) < 8 {
		return nil, false
	}
	data, sum := data[:len(data)-8], data[len(data)-8:]
	if binary.LittleEndian.Uint64(sum) != cacheSum(key, data) {
		return nil, false
	}
	markUsed(path)
	return data, true
}

// cacheSum tells a whole file from a damaged one, and a key from another of the same name.
func cacheSum(key string, data []byte) uint64 {
	h := xxhash.New()
	_, _ = h.WriteString(key)
	_, _ = h.Write(data)
	return h.Sum64()
}

// put keeps data under a key. The file appears whole or not at all.
func (c *Cache) put(kind, key string, data []byte) {
	path, err := c.path(kind, key)
	if err == nil {
		_ = replaceFile(path, binary.LittleEndian.AppendUint64(data[:len(data):len(data)], cacheSum(key, data)))
	}
}

// replaceFile writes a file, which appears whole or not at all.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// tempPrefix begins the names of files that are not complete.
const tempPrefix = "new-"
