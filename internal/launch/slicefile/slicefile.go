// Package slicefile writes slices to files beside the objects of compiles, and knows their names.
package slicefile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
)

// Suffix is what the path of a slice has behind the path of the object.
const Suffix = ".afdo"

// Path returns the path of the slice that belongs to an object.
func Path(object string) string { return object + Suffix }

// PathOf returns the path for the slice of a command, beside the object. It is empty if the
// object is not a file.
//
// Debug info and ccache keep the path, so in a checkout it must not contain the checkout's folder.
// It is relative if the object's path is, or if a path from the current folder exists.
func PathOf(c *command.Line) string {
	object := c.Object
	if info, err := os.Stat(c.Path(object)); err == nil && !info.Mode().IsRegular() {
		return ""
	}
	if object == "-" || strings.HasPrefix(filepath.ToSlash(object), "/dev/") {
		return ""
	}
	return Path(relative(c, object))
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

// Write writes a slice unless the file already has this content. An unchanged slice keeps its
// time, so builds that compare times have nothing to do.
func Write(path string, data []byte) (changed bool, err error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		if old, err := files.ReadFile(path, info.Size()); err == nil && string(old) == string(data) {
			return false, nil
		}
	}
	return true, files.Replace(path, data)
}

// HasOne reports whether a command has a slice beside its object.
func HasOne(c *command.Line) bool {
	_, err := os.Stat(c.Path(Path(c.Object)))
	return c.Object != "" && err == nil
}
