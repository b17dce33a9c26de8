package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/files"
)

// findDebugFile opens the file with the debug info of the binary: the file named, else the binary
// itself, else a separate debug file, which it finds by build ID or by name and checksum. It
// returns nil if there is none.
func (f *File) findDebugFile(named string) (*object, error) {
	id := f.binary.buildID()
	if named != "" {
		o, err := f.openDebug(named)
		if err != nil {
			return nil, err
		}
		if other := o.buildID(); id != nil && other != nil && !bytes.Equal(id, other) {
			o.close()
			return nil, fmt.Errorf("symbolize: %s has the build ID %x, %s has %x: %w", named, other, f.path, id, errOtherBuild)
		}
		if !o.hasDebugInfo() {
			o.close()
			return nil, fmt.Errorf("symbolize: %s: %w", named, ErrNoDebugInfo)
		}
		return o, nil
	}
	if f.binary.hasDebugInfo() {
		return f.binary, nil
	}
	for _, path := range f.debugPaths(id) {
		f.tried = append(f.tried, path.path)
		o, err := f.openDebug(path.path)
		switch {
		case isMissing(err) || errors.Is(err, fs.ErrPermission):
			continue
		case err != nil:
			return nil, err
		case o.hasDebugInfo() && path.matches(o):
			return o, nil
		}
		o.close()
	}
	return nil, nil
}

func (f *File) openDebug(path string) (*object, error) {
	o, err := openObject(path)
	if err == nil && o.elf.Type == elf.ET_REL {
		o.layout = f.binary
	}
	return o, err
}

// A debugPath is a possible path of a separate debug file, with its expected build ID or checksum.
type debugPath struct {
	path string
	id   []byte
	crc  uint32 // expected checksum, if id is nil
}

func (p debugPath) matches(o *object) bool {
	if p.id != nil {
		return bytes.Equal(o.buildID(), p.id)
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(o.file, 0, o.size)); err != nil {
		return false
	}
	return sum.Sum32() == p.crc
}

// debugPaths returns the paths at which debuggers look for the separate debug file of the binary.
// id is the binary's build ID.
func (f *File) debugPaths(id []byte) []debugPath {
	var paths []debugPath
	if name, ok := buildIDPath(id); ok {
		for _, dir := range f.dirs {
			paths = append(paths, debugPath{path: filepath.Join(dir, name), id: id})
		}
	}
	link := f.binary.small(".gnu_debuglink")
	end := bytes.IndexByte(link, 0)
	if end <= 0 {
		return paths
	}
	name := filepath.Base(string(link[:end]))
	at := (end + 4) &^ 3
	if at+4 > len(link) {
		return paths
	}
	crc := f.binary.order.Uint32(link[at:])
	dir := realDir(f.path)
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	for _, d := range []string{dir, filepath.Join(dir, ".debug")} {
		paths = append(paths, debugPath{path: filepath.Join(d, name), crc: crc})
	}
	for _, d := range f.dirs {
		paths = append(paths, debugPath{path: filepath.Join(d, dir, name), crc: crc})
	}
	return paths
}

// realDir returns the directory of a file after following symbolic links, if that is possible.
func realDir(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// buildIDPath returns the path that the debug file for a build ID has below a directory of debug
// files. It returns false if the build ID is too short.
func buildIDPath(id []byte) (string, bool) {
	if len(id) < 2 {
		return "", false
	}
	return filepath.Join(".build-id", hex.EncodeToString(id[:1]), hex.EncodeToString(id[1:])+".debug"), true
}

// checkMoved returns an error if llvm-bolt has moved the code of the binary, and the debug info is
// missing or describes the code as it was before. A note section with llvm-bolt's command line
// shows that a file was written by it.
func (f *File) checkMoved() error {
	if f.binary.byName[elfid.BOLTNote] == nil || f.debug != nil && bytes.Contains(f.debug.small(elfid.BOLTNote), []byte("update-debug-sections")) {
		return nil
	}
	return fmt.Errorf("symbolize: %s: %w: llvm-bolt has moved its code, and no debug info describes the code as it is now: "+
		"record the program that llvm-bolt read, or run llvm-bolt with --update-debug-sections", f.path, ErrUnsupported)
}

// noDebugInfo returns the error for a binary without debug info. It lists the paths that were
// tried.
func (f *File) noDebugInfo() error {
	looked := ""
	if len(f.tried) > 0 {
		looked = " (looked for it at " + strings.Join(f.tried, ", ") + ")"
	}
	return fmt.Errorf("symbolize: %s has %w%s", f.path, ErrNoDebugInfo, looked)
}

// openAlternate opens the file to which dwz has moved the parts of the debug info d that several
// files share.
func (f *File) openAlternate(d *debugData) (*debugData, error) {
	link := d.object.small(".gnu_debugaltlink")
	end := bytes.IndexByte(link, 0)
	if end <= 0 {
		return nil, faultAt(d.object.path, ".gnu_debugaltlink", 0, errReference, "debug info refers to a common file, and this does not name it")
	}
	name, id := string(link[:end]), link[end+1:]
	paths := []string{name}
	if !filepath.IsAbs(name) {
		paths[0] = filepath.Join(realDir(d.object.path), name)
	}
	for _, dir := range f.dirs {
		paths = append(paths, filepath.Join(dir, ".dwz", filepath.Base(name)))
		if path, ok := buildIDPath(id); ok {
			paths = append(paths, filepath.Join(dir, path))
		}
	}
	for o, err := range existing(paths...) {
		if err == nil {
			err = f.keep(o)
		}
		if err != nil {
			return nil, err
		}
		if bytes.Equal(o.buildID(), id) {
			return openData(o, "")
		}
	}
	return nil, fmt.Errorf("symbolize: %s: the common debug file that dwz made, %s with the build ID %x, is not there: %w", d.object.path, name, id, ErrNoDebugInfo)
}

// existing yields the files that exist at the given paths, or the error of opening one.
func existing(paths ...string) iter.Seq2[*object, error] {
	return func(yield func(*object, error) bool) {
		for _, path := range paths {
			if o, err := openObject(path); !isMissing(err) && !yield(o, err) {
				return
			}
		}
	}
}

// isMissing reports whether an error of opening a path means that no regular file exists there.
func isMissing(err error) bool {
	return slices.ContainsFunc([]error{fs.ErrNotExist, files.ErrNotRegular, syscall.ENOTDIR, syscall.ENAMETOOLONG}, func(none error) bool { return errors.Is(err, none) })
}
