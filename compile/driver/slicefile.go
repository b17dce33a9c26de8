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

// keepSlice writes a slice that has no place beside an object. Its name is a hash of its content,
// so that a compiler never sees the file change. It is in the cache or, without a cache, in the
// folder for temporary files.
func (l *Launcher) keepSlice(data []byte) (path string, changed bool, err error) {
	name := strconv.FormatUint(xxhash.Sum64(data), 16)
	if path, err = l.Cache.files().Path(store.Slices, name); err == nil {
		if changed, err = slicefile.Write(path, data); err == nil {
			store.MarkUsed(path)
			return path, changed, nil
		}
	}
	dir, err := temporaryFolder()
	if err != nil {
		return "", false, err
	}
	path = filepath.Join(dir, name+slicefile.Suffix)
	changed, err = slicefile.Write(path, data)
	return path, changed, err
}

// temporaryFolder returns the user's folder for slices where there is no cache.
func temporaryFolder() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("afdo-%d", os.Getuid()))
	return dir, store.MakePrivate(dir)
}

// selfState is the state of this program: another one may slice in another way.
func selfState() uint64 { return self().State }

// self returns the file of this program.
func self() record.File {
	path, err := os.Executable()
	if err != nil {
		return record.File{}
	}
	return record.Look("", path)
}
