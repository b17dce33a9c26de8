package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// keepSlice writes a slice of the profile to a file whose name is a hash of the slice, so that a
// compiler never sees a file change. It returns the path, and whether the file is new.
func (l *Launcher) keepSlice(data []byte) (path string, changed bool, err error) {
	return l.keepIn(store.Slices, data, func(path string) (bool, error) { return slicefile.Write(path, data) })
}

// keepIn calls write with a path in the cache, whose name is a hash of data. If there is no cache,
// or if write fails, keepIn calls write with a path in the folder for temporary files.
func (l *Launcher) keepIn(kind string, data []byte, write func(path string) (changed bool, err error)) (path string, changed bool, err error) {
	name := strconv.FormatUint(xxhash.Sum64(data), 16)
	if path, err = l.Cache.files().Path(kind, name); err == nil {
		if changed, err = write(path); err == nil {
			store.MarkUsed(path)
			return path, changed, nil
		}
	}
	dir, err := temporaryFolder()
	if err != nil {
		return "", false, err
	}
	path = filepath.Join(dir, name+".afdo")
	changed, err = write(path)
	return path, changed, err
}

// temporaryFolder makes a folder of the user's own below the system's temporary folder, and returns
// its path. It contains slices if there is no cache.
func temporaryFolder() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("afdo-%d", os.Getuid()))
	return dir, store.MakePrivate(dir)
}

// selfState returns a number that identifies the executable file of this program. It is part of
// cache keys, because another version of the program may select other functions for a slice.
func selfState() uint64 { return self().State }

// self returns the path and the state of the executable file of this program.
func self() record.File {
	path, err := os.Executable()
	if err != nil {
		return record.File{}
	}
	return record.Look("", path)
}
