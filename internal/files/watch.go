package files

import "io/fs"

// A Watch notices changes of a file. The zero value watches nothing.
type Watch struct {
	file interface{ Stat() (fs.FileInfo, error) }
	info fs.FileInfo
}

// Watching returns a Watch of src if src is a regular file, and else the zero value.
func Watching(src any) Watch {
	file, ok := src.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return Watch{}
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Watch{}
	}
	return Watch{file, info}
}

// Changed reports whether the size or the modification time of the file has changed.
func (w Watch) Changed() bool {
	if w.file == nil {
		return false
	}
	info, err := w.file.Stat()
	return err == nil && (info.Size() != w.info.Size() || !info.ModTime().Equal(w.info.ModTime()))
}
