package driver

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/lines"
)

// A Cache is a folder of files that can be made again. All that goes wrong with it counts as empty.
// A nil Cache is empty and stays so. Any number of processes may use one folder.
//
// Whoever may write to the folder decides what compilers are given to read, so
// it has to be the user's own.
type Cache struct {
	store   *store.Store
	maxSize int64
	maxAge  time.Duration
}

// What a cache holds at most, unless $AFDO_CACHE_SIZE and $AFDO_CACHE_DAYS say otherwise.
const (
	defaultCacheSize = 1 << 30
	defaultCacheDays = 30
)

// errNoCache is matched by all errors of [OpenCache], and ErrCacheSetting by those about a limit
// that makes no sense.
var (
	errNoCache      = store.ErrNone
	ErrCacheSetting = errors.New("no such limit")
)

// OpenCache returns the cache in $AFDO_CACHE_DIR, or in the folder afdo of $XDG_CACHE_HOME or of
// the system's folder for caches. It makes the folder if necessary, but not a home folder. The
// folder must belong to the user, and other users must not be able to write to it.
//
// The limits are $AFDO_CACHE_SIZE, in bytes or with the suffix K, M or G, and $AFDO_CACHE_DAYS, the
// number of days for which an unused file is kept.
//
// If there is an error, the cache is nil.
func OpenCache() (*Cache, error) {
	dir, err := store.DefaultDir()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCache, err)
	}
	return OpenCacheIn(dir)
}

// OpenCacheIn is [OpenCache] in a folder of the caller's choice. The caller may remove the folder
// once no launcher uses the cache.
func OpenCacheIn(dir string) (c *Cache, err error) {
	c = new(Cache)
	if c.maxSize, err = setting("AFDO_CACHE_SIZE", defaultCacheSize); err != nil {
		return nil, cacheSettingError{fmt.Errorf("AFDO_CACHE_SIZE: %w", err)}
	}
	days, err := setting("AFDO_CACHE_DAYS", defaultCacheDays)
	if err != nil || days > 1<<16 {
		return nil, cacheSettingError{fmt.Errorf("AFDO_CACHE_DAYS: %q: want a number of days", os.Getenv("AFDO_CACHE_DAYS"))}
	}
	c.maxAge = time.Duration(days) * 24 * time.Hour
	if c.store, err = store.OpenStore(dir); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCache, err)
	}
	return c, nil
}

// setting returns the number in an environment variable, or the default if it is not set.
func setting(name string, otherwise int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	return lines.ParseSize(text)
}

// A cacheSettingError is about a limit of the cache.
type cacheSettingError struct{ error }

func (e cacheSettingError) Error() string { return errNoCache.Error() + ": " + e.error.Error() }

func (cacheSettingError) Is(target error) bool {
	return target == errNoCache || target == ErrCacheSetting
}

// Dir returns the path of the folder.
func (c *Cache) Dir() string { return c.store.Dir() }

// Limits returns how many bytes the cache holds at most, and for how long an unused file.
func (c *Cache) Limits() (size int64, age time.Duration) { return c.maxSize, c.maxAge }

// files returns where the files are, nil for a nil Cache.
func (c *Cache) files() *store.Store {
	if c == nil {
		return nil
	}
	return c.store
}

// A Usage is how much there is in a cache.
type Usage struct {
	Files int
	Bytes int64
}

// Usage returns how much there is in the cache.
func (c *Cache) Usage() (Usage, error) { return usage(c.files().Usage()) }

// Clean removes everything but the statistics, and returns how much that was.
func (c *Cache) Clean() (Usage, error) { return usage(c.files().Remove(0, 0)) }

// Trim removes files not used for long, and then those not used for longest until the rest is below
// the limit.
func (c *Cache) Trim() (Usage, error) {
	if c == nil {
		return Usage{}, nil
	}
	return usage(c.store.Remove(c.maxSize, c.maxAge))
}

func usage(files int, bytes int64, err error) (Usage, error) { return Usage{files, bytes}, err }

// trimNowAndThen trims the cache if that has not been done within the hour.
func (c *Cache) trimNowAndThen() {
	if c != nil && c.store.DueForTrim() {
		_, _ = c.Trim()
	}
}
