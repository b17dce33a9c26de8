package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/files"
)

// A Store is a folder of files that can be made again, by kind and key. All that goes wrong with it
// counts as empty. A nil Store is empty and stays so. Any number of processes may use one folder.
type Store struct{ dir string }

// ErrNone matches errors for a missing cache.
var ErrNone = errors.New("no cache")

// OpenStore returns the store in a folder, and makes the folder if necessary. The folder must
// belong to the user, and no other user may write to it.
func OpenStore(dir string) (*Store, error) {
	if err := MakePrivate(dir); err != nil {
		return nil, err
	}
	return &Store{dir}, nil
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
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	return checkPrivate(dir, info)
}

// kinds are the folders in the cache.
const (
	Compilers = "compilers" // versions of compilers
	Inputs    = "inputs"    // what compiles read
	Stamps    = "stamps"    // out of what slices were made
	Slices    = "slices"    // slices for compilers, where none can be put beside an object
	Taken     = "taken"     // copies of all slices, by the hash of what they were made of
	Profiles  = "profiles"  // profiles with an index
	Plans     = "plans"     // commands that run again while nothing that decided them changes
	Said      = "said"      // what has been said in this build
)

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
