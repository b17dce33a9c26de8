package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// sliceSuffix is appended to the path of an object.
const sliceSuffix = ".afdo"

// SlicePath returns the path of the slice that belongs to an object.
func SlicePath(object string) string { return object + sliceSuffix }

// slicePathOf returns the path for the slice of a command, beside the object. It is empty if the
// object is not a file.
//
// Debug info and ccache keep the path, so in a checkout it must not contain the checkout's folder.
// It is relative if the object's path is, or if a path from the current folder exists.
func slicePathOf(c *command.Line) string {
	object := c.Object
	if info, err := os.Stat(c.Path(object)); err == nil && !info.Mode().IsRegular() {
		return ""
	}
	if object == "-" || strings.HasPrefix(filepath.ToSlash(object), "/dev/") {
		return ""
	}
	return SlicePath(relative(c, object))
}

// relative returns a path from the folder for an absolute one, unless they share no folder but the
// root, or a symbolic link on the way makes ".." lead elsewhere.
func relative(c *command.Line, path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	short, err := filepath.Rel(c.Dir, path)
	if err != nil || c.Path(short) != path || topFolder(c.Dir) != topFolder(path) {
		return path
	}
	there, err1 := os.Stat(filepath.Dir(path))
	way, err2 := os.Stat(c.Dir + string(filepath.Separator) + filepath.Dir(short)) // not cleaned, as the system walks it
	if err1 != nil || err2 != nil || !os.SameFile(there, way) {
		return path
	}
	return short
}

// topFolder returns the first folder of an absolute path.
func topFolder(path string) string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return top
}

// WriteSlice writes a slice unless the file already has this content. An unchanged slice keeps its
// time, so builds that compare times have nothing to do.
func WriteSlice(path string, data []byte) (changed bool, err error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		if old, err := files.ReadFile(path, info.Size()); err == nil && string(old) == string(data) {
			return false, nil
		}
	}
	return true, files.Replace(path, data)
}

// keepSlice writes a slice that has no place beside an object. Its name is a hash of its content,
// so that a compiler never sees the file change. It is in the cache or, without a cache, in the
// folder for temporary files.
func (l *Launcher) keepSlice(data []byte) (path string, changed bool, err error) {
	name := strconv.FormatUint(xxhash.Sum64(data), 16)
	if path, err = l.Cache.files().Path(store.Slices, name); err == nil {
		if changed, err = WriteSlice(path, data); err == nil {
			store.MarkUsed(path)
			return path, changed, nil
		}
	}
	dir, err := temporaryFolder()
	if err != nil {
		return "", false, err
	}
	path = filepath.Join(dir, name+sliceSuffix)
	changed, err = WriteSlice(path, data)
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
