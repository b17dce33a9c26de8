// Package slicefile writes a compile's slice, its part of the profile, to a file beside the
// compile's object, and determines the name of that file.
package slicefile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
)

// Suffix returns what the path of a command's slice has after the path of the object. People call
// the profile of a program PROGRAM.afdo, in whatever format, so the slice of a command that makes a
// program has another name, and never replaces such a profile.
func Suffix(c *command.Line) string {
	if c.Links() || filepath.Ext(c.Object) == "" {
		return ".exec.afdo"
	}
	return ".afdo"
}

// PathOf returns the path of the slice for a command, beside the command's object. It is empty if
// the output is not a regular file.
//
// The path is relative if the object's path is, or if there is a relative path to the object from
// the command's folder. Debug info and ccache store the path, so it should not contain the folder
// of the checkout.
func PathOf(c *command.Line) string {
	object := c.Object
	if info, err := os.Stat(c.Path(object)); err == nil && !info.Mode().IsRegular() {
		return ""
	}
	if object == "-" || strings.HasPrefix(filepath.ToSlash(object), "/dev/") {
		return ""
	}
	return relative(c, object) + Suffix(c)
}

// relative converts an absolute path to a path relative to the command's folder. It returns the
// path unchanged if both have only the root in common, or if a symbolic link makes ".." lead
// elsewhere.
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

// topFolder returns the first element of an absolute path, such as "home" for /home/me. It ignores
// a volume of Windows.
func topFolder(path string) string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return top
}

// Write writes a slice to a file unless the file already has this content. An unchanged file keeps
// its modification time, so that make does not rebuild what depends on it.
func Write(path string, data []byte) (changed bool, err error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		if old, err := files.ReadFile(path, info.Size()); err == nil && string(old) == string(data) {
			return false, nil
		}
	}
	return true, files.Replace(path, data)
}

// HasOne reports whether there is a slice file beside the object of a command.
func HasOne(c *command.Line) bool {
	_, err := os.Stat(c.Path(c.Object + Suffix(c)))
	return c.Object != "" && err == nil
}
