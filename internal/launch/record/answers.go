package record

import (
	"encoding/binary"
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

// A looker looks at what a command has asked of the file system, for its record.
type looker struct {
	*Record
	cache  *store.Store
	dir    string
	start  time.Time
	sure   bool
	buf    []byte
	near   map[string]string   // the nearest folder that is there, by folder
	linked map[string]bool     // paths that were looked at for links
	absent map[string][]string // names that are not there, by the nearest folder that is
	ids    map[string]uint64   // the number of a folder in Folders, by device and inode
}

// Add puts the answers to what a command has asked into its record, as they are now. files are the
// inputs of the command, and dir is the folder that it ran in, since start. Add reports whether the
// answers were the same for the command: nothing was changed since.
func (r *Record) Add(cache *store.Store, dir string, files []string, asked map[string]trace.Use, start time.Time) bool {
	l := looker{Record: r, cache: cache, dir: dir, start: start, sure: true, buf: make([]byte, BufferSize), near: make(map[string]string),
		linked: make(map[string]bool), absent: make(map[string][]string), ids: make(map[string]uint64)}
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
	for folder, missing := range l.absent {
		slices.Sort(missing)
		r.Watched = append(r.Watched, Watched{Look(dir, folder), slices.Compact(missing)})
	}
	slices.SortFunc(r.Watched, func(a, b Watched) int { return strings.Compare(a.Folder.Path, b.Folder.Path) })
	return l.sure
}

// isOfSystem reports whether a path is no file that could change what a compiler prints: a device,
// or the loader's list of the libraries, each of which is a file that is opened.
func isOfSystem(path string) bool {
	return path == "/etc/ld.so.cache" || slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(top string) bool {
		return path == top || strings.HasPrefix(path, top+"/")
	})
}

// file looks at a file that was opened.
func (l *looker) file(name string) File {
	f, changed := LookAt(l.dir, name)
	l.sure = l.sure && changed.Before(l.start) && f.hash(l.cache, l.dir, l.buf)
	return f
}

// lookup looks at a path.
func (l *looker) lookup(path string, use trace.Use) {
	l.links(path)
	info, err := os.Stat(PathIn(l.dir, path))
	switch {
	case err != nil:
		l.missing(path)
	case info.IsDir():
		f := Folder{Path: path, Same: l.number(info, len(l.Folders))}
		if use&trace.List != 0 {
			f.Names = hashOfNames(PathIn(l.dir, path))
			l.sure = l.sure && changedAt(info).Before(l.start)
		}
		l.Folders = append(l.Folders, f)
	case info.Mode().IsRegular():
		l.Others = append(l.Others, l.file(path))
	default:
		l.sure = false
	}
}

// number returns the number of the first folder in a list that is the same as this one. own is the
// number that this folder will have, which is returned if there is no such folder.
func (l *looker) number(info fs.FileInfo, own int) uint64 {
	id := identity(info)
	if id == nil {
		return uint64(own)
	}
	key := string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(id[0])), uint64(id[1])))
	first, ok := l.ids[key]
	if !ok {
		first = uint64(own)
		l.ids[key] = first
	}
	return first
}

// foldersHold reports whether folders are still folders, with the same names if these were listed,
// and whether paths that led to one folder still do, and others still do not. Compilers search a
// folder once that has two paths.
func (r *Record) foldersHold(dir string) bool {
	l := looker{ids: make(map[string]uint64)}
	for i := range r.Folders {
		f := &r.Folders[i]
		info, err := os.Stat(PathIn(dir, f.Path))
		if err != nil || !info.IsDir() || l.number(info, i) != f.Same || f.Names != 0 && f.Names != hashOfNames(PathIn(dir, f.Path)) {
			return false
		}
	}
	return true
}

// hashOfNames returns a hash of the names in a folder, which is not 0.
func hashOfNames(folder string) uint64 {
	h := xxhash.New()
	list, _ := os.ReadDir(folder)
	for _, entry := range list {
		_, _ = h.WriteString(entry.Name() + "\x00")
	}
	return max(1, h.Sum64())
}

// maxLinks bounds the links that lead to one path, as systems do.
const maxLinks = 40

// links notes the links on the way to a path, and on the way to where these lead.
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
		to, err := os.Readlink(PathIn(l.dir, part))
		if err != nil {
			continue
		}
		l.Links = append(l.Links, Link{part, to})
		l.links(behind(part, to))
	}
}

// behind returns where a link leads.
func behind(link, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	if at := strings.LastIndexByte(link, filepath.Separator); at >= 0 {
		return link[:at+1] + to
	}
	return to
}

// missing watches the nearest folder that is there for the next name on the way to a path.
func (l *looker) missing(path string) {
	for range maxLinks {
		folder := l.nearest(above(path))
		name := firstBelow(folder, path)
		l.absent[folder] = append(l.absent[folder], name)
		link := name
		if folder != "." {
			link = folder + string(filepath.Separator) + name
		}
		to, err := os.Readlink(PathIn(l.dir, link))
		if err != nil {
			return
		}
		path = behind(link, to) // nothing is there, and the folder does not change if that comes
	}
}

// above returns the path of the folder that a path is in.
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

// nearest returns a folder, or the first one above it that is there.
func (l *looker) nearest(folder string) string {
	if known, ok := l.near[folder]; ok {
		return known
	}
	nearest := folder
	if up := above(folder); up != folder && folder != "" && !Exists(l.dir, folder) {
		nearest = l.nearest(up)
	}
	l.near[folder] = nearest
	return nearest
}

// firstBelow returns the first name of a path after the folder at its beginning.
func firstBelow(folder, path string) string {
	if folder != "." {
		path = path[len(folder):]
	}
	path = strings.TrimLeft(path, string(filepath.Separator))
	name, _, _ := strings.Cut(path, string(filepath.Separator))
	return name
}
