package driver

import "github.com/go-afdo/afdo/internal/launch/store"

// A Cache is a folder with slices, copies of profiles and other files that can be made again. If a
// file in it cannot be read or written, the launcher works as if the cache did not have it. A nil
// Cache stores nothing. Any number of processes may use one folder.
//
// The folder has to be the user's own: whoever may write to it decides which profiles compilers
// read.
type Cache struct{ store *store.Store }

// OpenCache returns the cache in $AFDO_CACHE_DIR, or in the folder afdo of $XDG_CACHE_HOME or of
// the system's folder for caches. It makes the folder if necessary, but not a home folder. The
// folder must belong to the user, and other users must not be able to write to it.
//
// The limits are $AFDO_CACHE_SIZE, in bytes or with the suffix K, M or G, and $AFDO_CACHE_DAYS, the
// number of days for which an unused file is kept.
//
// If there is an error, the cache is nil.
func OpenCache() (*Cache, error) { return cacheIn(store.Default()) }

// OpenCacheIn opens the cache in the folder dir, with the limits of [OpenCache]. The caller may
// remove the folder once no launcher uses the cache.
func OpenCacheIn(dir string) (*Cache, error) { return cacheIn(store.OpenLimited(dir)) }

// cacheIn returns a Cache for a store, or the error of opening the store.
func cacheIn(s *store.Store, err error) (*Cache, error) {
	if err != nil {
		return nil, err
	}
	return &Cache{s}, nil
}

// files returns the store of the cache, or nil if the cache is nil.
func (c *Cache) files() *store.Store {
	if c == nil {
		return nil
	}
	return c.store
}
