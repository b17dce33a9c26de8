package record

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/trace"
)

// A looker finds out the present states of the paths that a command has looked up, such as files
// and missing files, and adds them to the record of the command.
type looker struct {
	*Record
	cache  *store.Store
	dir    string    // in which the command ran
	start  time.Time // when the command began
	sure   bool      // no path has changed since start
	buf    []byte
	near   map[string]string   // cache of nearest, by folder
	linked map[string]bool     // paths that links has checked
	absent map[string][]string // names that do not exist, by the nearest folder that exists
	ids    map[[2]int64]uint64 // index in Folders, by device and inode
}

// Add records which paths a command has looked up, and the state that each path has now. files are
// the inputs of the command. The keys of asked are all paths that it looked up. dir is the folder
// in which it ran. Add reports whether the record may be used: no path has changed since start,
// when the command began.
func (r *Record) Add(cache *store.Store, dir string, files []string, asked map[string]trace.Use, start time.Time) bool {
	l := looker{Record: r, cache: cache, dir: dir, start: start, sure: true, buf: make([]byte, bufferSize), near: make(map[string]string),
		linked: make(map[string]bool), absent: make(map[string][]string), ids: make(map[[2]int64]uint64)}
	known := make(map[string]bool)
	for _, name := range files {
		known[name] = true
		r.Inputs = append(r.Inputs, l.file(name))
	}
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		use := asked[path]
		for strings.HasPrefix(path, "./") && len(path) > len("./") {
			path = strings.TrimLeft(path[1:], "/")
		}
		if known[path] {
			l.links(path)
		} else if !isOfSystem(path) {
			l.lookup(path, use)
		}
	}
	l.tieCopies()
	for folder, missing := range l.absent {
		slices.Sort(missing)
		r.Watched = append(r.Watched, Watched{Look(dir, folder), slices.Compact(missing)})
	}
	slices.SortFunc(r.Watched, func(a, b Watched) int { return strings.Compare(a.Folder.Path, b.Folder.Path) })
	return l.sure
}

// isOfSystem reports whether a path need not be recorded, because it cannot change the output of a
// compiler. That is so below /dev, /proc and /sys, except in /dev/shm, which is a folder for files
// of users. It is also so for the list of libraries that the dynamic loader caches, because each
// library is opened itself.
func isOfSystem(path string) bool {
	return path == "/etc/ld.so.cache" || !strings.HasPrefix(path, "/dev/shm/") && slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(top string) bool {
		return path == top || strings.HasPrefix(path, top+"/")
	})
}

// file returns the state of a file that the command has opened, with a hash of its content. If the
// file has changed since the command began, file sets l.sure to false, and the record must not be
// cached.
func (l *looker) file(name string) File {
	f, changed := LookAt(l.dir, name)
	hashed := f.hash(l.cache, l.dir, l.buf) // in any case, since other entries of the cache have a key of contents
	l.sure = l.sure && changed.Before(l.start) && hashed
	return f
}

// lookup adds the current state of a path to the record: as a file, as a folder or as missing.
func (l *looker) lookup(path string, use trace.Use) {
	l.links(path)
	info, mode, err := status(pathIn(l.dir, path))
	switch {
	case err != nil:
		l.missing(path)
	case info.IsDir():
		f := Folder{Path: path, Same: l.number(info, len(l.Folders)), Mode: mode}
		if use&trace.List != 0 {
			f.Names = hashOfNames(pathIn(l.dir, path))
			l.sure = l.sure && changedAt(info).Before(l.start)
		}
		l.Folders = append(l.Folders, f)
	case info.Mode().IsRegular():
		f := l.file(path)
		if use&trace.Status != 0 && l.Environment != 0 { // a script may compare its time
			f.Content ^= f.State // so it holds for this state only
		}
		l.Others = append(l.Others, f)
	default:
		l.sure = false
	}
}

// tieCopies finds recorded files that have the same content as another recorded file. It changes
// the record so that it is only valid as long as the times and inodes of these files are unchanged,
// and not only their contents. A compiler may regard two such files as one, after #pragma once or
// #import. Whether it does depends on their times (GCC) or inodes (clang).
func (l *looker) tieCopies() {
	copies := make(map[uint64][]*File)
	for _, files := range [][]File{l.Inputs, l.Others} {
		for i := range files {
			copies[files[i].Content] = append(copies[files[i].Content], &files[i])
		}
	}
	for _, same := range copies {
		if slices.ContainsFunc(same[1:], func(f *File) bool { return l.realPath(f) != l.realPath(same[0]) }) {
			for _, f := range same {
				f.Content ^= f.State
			}
		}
	}
}

// realPath returns the path of a file without symbolic links, or "" if there is none.
func (l *looker) realPath(f *File) string {
	path, _ := filepath.EvalSymlinks(pathIn(l.dir, f.Path))
	return path
}

// status returns information about the file or folder to which a path leads, after symbolic links.
// mode is that of the path itself, which shows whether the path is a symbolic link.
func status(path string) (info fs.FileInfo, mode uint64, err error) {
	info, err = os.Lstat(path)
	link := fs.FileMode(0)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		link = fs.ModeSymlink
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, 0, err
	}
	return info, uint64(info.Mode() | link), nil
}

// number returns an index by which two recorded folders can be recognised as the same directory,
// for example because one path leads there by a symbolic link. It is the index of the first
// recorded folder with the device and inode of info. If there is none, number returns own, the
// index that the folder of info itself will have.
func (l *looker) number(info fs.FileInfo, own int) uint64 {
	id := identity(info)
	if id == nil {
		return uint64(own)
	}
	key := [2]int64(id)
	first, ok := l.ids[key]
	if !ok {
		first = uint64(own)
		l.ids[key] = first
	}
	return first
}

// foldersHold reports whether the recorded folders are unchanged as far as the command could see:
// they exist with the same permissions, and contain the same names if the command listed them.
// Paths that led to the same directory must still do so, and other paths must not. This matters
// because a compiler searches a folder only once if two paths lead to it.
func (r *Record) foldersHold(dir string) bool {
	l := looker{ids: make(map[[2]int64]uint64)}
	for i := range r.Folders {
		f := &r.Folders[i]
		info, mode, err := status(pathIn(dir, f.Path))
		if err != nil || mode != f.Mode || l.number(info, i) != f.Same || f.Names != 0 && f.Names != hashOfNames(pathIn(dir, f.Path)) {
			return false
		}
	}
	return true
}

// hashOfNames returns a hash of the names in a folder. It is never 0.
func hashOfNames(folder string) uint64 {
	h := xxhash.New()
	list, _ := os.ReadDir(folder)
	for _, entry := range list {
		_, _ = h.WriteString(entry.Name() + "\x00")
	}
	return max(1, h.Sum64())
}

// maxLinks limits the symbolic links that [looker.missing] follows for one path. Linux follows as
// many.
const maxLinks = 40

// links records the symbolic links in a path: for each folder of the path that is a link, the path
// to which it leads. It also records the links in these paths.
func (l *looker) links(path string) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && !os.IsPathSeparator(path[end]) {
			continue
		}
		part := path[:end]
		if l.linked[part] {
			continue
		}
		l.linked[part] = true
		to, err := os.Readlink(pathIn(l.dir, part))
		if err != nil {
			continue
		}
		l.Links = append(l.Links, Link{part, to})
		l.links(linkTarget(part, to))
	}
}

// linkTarget returns the path to which a symbolic link with the target to leads.
func linkTarget(link, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	if at := strings.LastIndexByte(link, filepath.Separator); at >= 0 {
		return link[:at+1] + to
	}
	return to
}

// missing records a path that does not exist: the nearest folder above it that exists, and the name
// that has to appear there before the path can exist.
func (l *looker) missing(path string) {
	for range maxLinks {
		folder := l.nearest(above(path))
		name := firstBelow(folder, path)
		l.absent[folder] = append(l.absent[folder], name)
		link := name
		if folder != "." {
			link = folder + string(filepath.Separator) + name
		}
		to, err := os.Readlink(pathIn(l.dir, link))
		if err != nil {
			return
		}
		path = linkTarget(link, to) // nothing is there, and the folder does not change if that comes
	}
}

// above returns the path of the folder that contains the file or folder at a path.
func above(path string) string {
	path = strings.TrimRight(path, string(filepath.Separator))
	switch at := strings.LastIndexByte(path, filepath.Separator); at {
	case -1:
		return "."
	case 0:
		return path[:1]
	default:
		return strings.TrimRight(path[:at], string(filepath.Separator))
	}
}

// nearest returns the folder if it exists, and otherwise the nearest folder above it that exists.
func (l *looker) nearest(folder string) string {
	if known, ok := l.near[folder]; ok {
		return known
	}
	nearest := folder
	if up := above(folder); up != folder && folder != "" && !exists(l.dir, folder) {
		nearest = l.nearest(up)
	}
	l.near[folder] = nearest
	return nearest
}

// firstBelow returns the name of what comes first on the way from a folder to a path below it: "b"
// for the folder /a and the path /a/b/c.
func firstBelow(folder, path string) string {
	if folder != "." {
		path = path[len(folder):]
	}
	path = strings.TrimLeft(path, string(filepath.Separator))
	name, _, _ := strings.Cut(path, string(filepath.Separator))
	return name
}
