package driver

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// A Cache is a folder of small files that can be made again. All that goes
// wrong with it is as if it were empty. A nil Cache is empty and stays so.
type Cache struct {
	dir string
}

// OpenCache returns the cache in $AFDO_CACHE_DIR, or in the folder afdo of
// $XDG_CACHE_HOME or of what the system has for such things. It is nil if there is no such place.
func OpenCache() *Cache {
	dir := os.Getenv("AFDO_CACHE_DIR")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(base, "afdo")
	}
	if !filepath.IsAbs(dir) {
		return nil
	}
	return &Cache{dir: dir}
}

// Path returns where something with a key is kept, so that it can be put there
// by other means. It makes the folder, and fails if it cannot.
func (c *Cache) Path(kind, key string) (string, error) {
	if c == nil {
		return "", fmt.Errorf("there is no folder for a cache: set AFDO_CACHE_DIR")
	}
	dir := filepath.Join(c.dir, kind)
	return filepath.Join(dir, fmt.Sprintf("%016x", xxhash.Sum64String(key))), os.MkdirAll(dir, 0o777)
}

// Get returns what was put under a key.
func (c *Cache) Get(kind, key string) (data []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	data, err := os.ReadFile(filepath.Join(c.dir, kind, fmt.Sprintf("%016x", xxhash.Sum64String(key))))
	if err != nil || len(data) < 8 {
		return nil, false
	}
	data, sum := data[:len(data)-8], data[len(data)-8:]
	return data, binary.LittleEndian.Uint64(sum) == cacheSum(key, data)
}

// cacheSum tells a whole file from a damaged one, and a key from another of the same name.
func cacheSum(key string, data []byte) uint64 {
	h := xxhash.New()
	_, _ = h.WriteString(key)
	_, _ = h.Write(data)
	return h.Sum64()
}

// Put keeps data under a key. The file appears whole or not at all.
func (c *Cache) Put(kind, key string, data []byte) {
	if c == nil {
		return
	}
	path, err := c.Path(kind, key)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return
	}
	data = binary.LittleEndian.AppendUint64(data[:len(data):len(data)], cacheSum(key, data))
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
}
