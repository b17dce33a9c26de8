package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Record describes the inputs of a command, and the result that the command had with them.
type Record struct {
	Key string // under which the record is cached

	Root   Root   // of the checkout
	Text   []byte // the result: the encoded identifiers of the sources, or a compiler's version
	Output uint64 // hash of the preprocessed sources, 0 for a version

	// Paths that the command looked up, with their states at that time.
	Inputs  []File    // sources and headers
	Others  []File    // other files that it opened: programs, libraries, settings
	Watched []Watched // folders in which it did not find a file
	Folders []Folder  // the folders that it found
	Links   []Link    // symbolic links in these paths

	// Environment is the hash [WholeEnvironment] if the command runs a program of which it is
	// unknown which environment variables it reads, and otherwise 0.
	Environment uint64

	Renewed bool // Holds has updated states, and storing the record saves time
}

// A Folder is a folder that the command looked up, in which a compiler may search for files.
type Folder struct {
	Path  string
	Same  uint64 // index of the first recorded folder that is the same directory, such as by a symbolic link
	Mode  uint64 // type and permissions of what is at the path, which may be a symbolic link
	Names uint64 // hash of the names in the folder if the command listed it, else 0
}

// A Link is a symbolic link that the command has followed: its path, and the path to which it
// leads.
type Link struct{ Path, To string }

// A File is the state of a file or folder at one time.
type File struct {
	Path    string
	State   uint64 // result of StateOf, 0 if the file does not exist
	Size    uint64
	Content uint64 // hash of the content and the mode; 0 for folders, and for files that do not exist
}

// A Watched is a folder in which the command did not find certain files. Missing has names in the
// folder: those of the files, or of missing folders on the way to them. If such a file is created,
// its name appears in the folder.
type Watched struct {
	Folder  File
	Missing []string
}

// appeared reports whether one of the missing names exists now. state is the new state of the
// folder, which has changed since the record was made. slow is true if the check was expensive.
//
// appeared lists the folder instead of looking up each name, because a source with many includes
// misses hundreds of names in each folder that is searched early. Some systems ignore case, or
// regard different encodings of a letter outside ASCII as equal. So if a missing name may be in the
// list, appeared looks up this name.
func (w *Watched) appeared(dir string, state uint64) (found, slow bool) {
	folder := pathIn(dir, w.Folder.Path)
	there, err := namesOf(folder, state)
	found = slices.ContainsFunc(w.Missing, func(name string) bool {
		near := err != nil || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) || name == "." || name == ".." || there[strings.ToLower(name)]
		return near && exists(folder, name)
	})
	return found, err != nil || len(there) >= longListing
}

// longListing is the number of names from which on listing a folder counts as expensive. Then the
// folder's new state is stored in the cache, so that the next compile need not list it. Listing
// takes 0.3 us per name, and storing 125 us. For smaller folders storing does not pay, because a
// folder of objects gets a new state with every compile.
const longListing = 400

// A listing contains the names in a folder, in lower case, at the time when the folder had the
// given state.
type listing struct {
	state uint64
	names map[string]bool
}

// listings caches the last listing of each folder, by path. When one process checks all compiles of
// a build, most of their records watch the same folders.
var listings sync.Map

// namesOf returns the names in a folder, in lower case. state is the current state of the folder:
// the names come from memory if they were read when the folder had this state.
func namesOf(folder string, state uint64) (map[string]bool, error) {
	if last, ok := listings.Load(folder); ok && last.(listing).state == state {
		return last.(listing).names, nil
	}
	f, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait if it is a named pipe now
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[strings.ToLower(name)] = true
	}
	if err == nil {
		listings.Store(folder, listing{state, names})
	}
	return names, err
}

// Look returns what identifies the present version of a file or folder, such as its size and times,
// without reading its content. A relative path begins at the folder dir.
func Look(dir, path string) File {
	in, _ := LookAt(dir, path)
	return in
}

// LookAt returns the same as [Look], and also when the file was last changed or replaced.
func LookAt(dir, path string) (in File, changed time.Time) {
	info, err := os.Stat(pathIn(dir, path))
	if err != nil {
		return File{Path: path}, changed
	}
	return File{Path: path, State: StateOf(info), Size: uint64(info.Size())}, changedAt(info)
}

// changedAt returns when a file was last changed or replaced, even if its modification time was set
// back.
func changedAt(info fs.FileInfo) time.Time {
	changed := info.ModTime()
	if id := identity(info); id != nil {
		if replaced := time.Unix(id[2], id[3]); replaced.After(changed) {
			return replaced
		}
	}
	return changed
}

// MaxSource is the size of the largest source in bytes: 256 MiB. Larger files are not read.
const MaxSource = 256 << 20

// bufferSize is the size in bytes of the buffer through which files are read. A compile reads
// hundreds of files, so they share one buffer to save memory.
const bufferSize = 64 << 10

// lookInto reads the file through the buffer buf and sets Content to a hash of its content and its
// mode. It returns false if the file cannot be read, is larger than MaxSource, or has changed since
// its state was taken.
func (in *File) lookInto(dir string, buf []byte) bool {
	path := pathIn(dir, in.Path)
	f, info, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() > MaxSource {
		return false
	}
	h := xxhash.New()
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf); err != nil { // WriteTo of f would not use buf
		return false
	}
	in.Content = max(1, h.Sum64()^uint64(info.Mode()))
	info, err = f.Stat()
	return err == nil && StateOf(info) == in.State
}

// largeFile is the size in bytes from which the cache stores the hash of a file, such as a compiler
// or one of its libraries. Hashing 50 MB takes 10 ms, and all records of a build contain the same
// large files.
const largeFile = 1 << 20

// hash sets Content to the hash of the file's content, which it reads through buf. For a large file
// it takes the hash from the cache if possible. It returns false if the file has changed since its
// state was taken.
func (in *File) hash(cache *store.Store, dir string, buf []byte) bool {
	if in.Size < largeFile {
		return in.lookInto(dir, buf)
	}
	key := fmt.Sprintf("content\x00%s\x00%d", pathIn(dir, in.Path), in.State)
	if data, ok := cache.Get(store.Compilers, key); ok && len(data) == 8 {
		in.Content = binary.LittleEndian.Uint64(data)
		return true
	}
	if !in.lookInto(dir, buf) {
		return false
	}
	cache.Put(store.Compilers, key, binary.LittleEndian.AppendUint64(nil, in.Content))
	return true
}

// sameContent reports whether a file still has its recorded content, although its state has changed
// to now, for example because it was checked out again. If so, it puts the new state into the
// record.
func (in *File) sameContent(cache *store.Store, dir string, now File, buf []byte) bool {
	if in.Content == 0 || in.Size != now.Size || !now.hash(cache, dir, buf) || now.Content != in.Content {
		return false
	}
	*in = now
	return true
}

// pathIn joins the folder dir and a relative path. It returns an absolute path unchanged. It keeps
// "..", because the name before it may be a symbolic link.
func pathIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// exists reports whether there is a file or folder at a path. A relative path begins at the folder
// dir.
func exists(dir, path string) bool {
	_, err := os.Stat(pathIn(dir, path))
	return err == nil
}

// Paths returns the paths of the command's sources and headers, as the compiler names them.
func (r *Record) Paths() []string {
	files := make([]string, len(r.Inputs))
	for i := range r.Inputs {
		files[i] = r.Inputs[i].Path
	}
	return files
}

// Sum returns a hash of the recorded result of the command: for a compile, the identifiers in its
// sources. If this hash is unchanged, the compile needs the same functions of the profile.
func (r *Record) Sum() uint64 { return xxhash.Sum64(r.Text) }

// Result returns a hash of Text and Output. It differs if a new run of the compiler has found other
// identifiers or another preprocessed text.
func (r *Record) Result() uint64 { return r.Sum() ^ r.Output }

// State returns a hash of the contents of all files that the command opened, parts of the compiler
// included. It is the same for another checkout of the same files.
func (r *Record) State() uint64 {
	e := Encoder{root: r.Root}
	for _, files := range [][]File{r.Inputs, r.Others} {
		for _, in := range files {
			e.path(in.Path)
			e.Uint(in.Content)
		}
	}
	return xxhash.Sum64(e.Data)
}

// Holds reports whether the recorded result is still valid for a command that runs in dir with the
// environment env: all recorded paths have the same states, or at least the same contents. If a
// file was written again with its old content, or a folder has changed but no missing name has
// appeared in it, Holds updates the state in the record. It sets Renewed if storing the record
// makes the next call faster.
func (r *Record) Holds(cache *store.Store, dir string, env []string) bool {
	if r.Environment != 0 && r.Environment != WholeEnvironment(env) || !r.foldersHold(dir) {
		return false
	}
	var buf []byte
	for _, files := range [][]File{r.Inputs, r.Others} {
		for i := range files {
			was := &files[i]
			now := Look(dir, was.Path)
			if now.State == was.State {
				continue
			}
			if buf == nil {
				buf = make([]byte, bufferSize)
			}
			if !was.sameContent(cache, dir, now, buf) {
				return false
			}
			r.Renewed = true
		}
	}
	for _, link := range r.Links {
		if to, err := os.Readlink(pathIn(dir, link.Path)); err != nil || to != link.To {
			return false
		}
	}
	for i := range r.Watched {
		w := &r.Watched[i]
		now := Look(dir, w.Folder.Path)
		if now.State == w.Folder.State {
			continue
		}
		found, slow := w.appeared(dir, now.State)
		if found {
			return false
		}
		w.Folder, r.Renewed = now, r.Renewed || slow
	}
	return true
}

// recordForm is the version of the encoding, and the first number of an encoded record. Change it
// when the encoding or the way in which Text is computed changes.
const recordForm = 11

// Encode returns the record in the form in which the cache stores it.
func (r *Record) Encode() []byte {
	e := Encoder{root: r.Root}
	e.Uint(recordForm)
	e.Uint(r.Environment)
	e.Uint(r.Output)
	for _, files := range [][]File{r.Inputs, r.Others} {
		e.Uint(uint64(len(files)))
		for _, in := range files {
			e.input(in)
		}
	}
	e.Uint(uint64(len(r.Watched)))
	for _, w := range r.Watched {
		e.input(w.Folder)
		e.Strings(w.Missing)
	}
	e.Uint(uint64(len(r.Folders)))
	for _, f := range r.Folders {
		e.path(f.Path)
		e.Uint(f.Same)
		e.Uint(f.Mode)
		e.Uint(f.Names)
	}
	e.Uint(uint64(len(r.Links)))
	for _, link := range r.Links {
		e.path(link.Path)
		e.path(link.To)
	}
	return append(e.Data, r.Text...)
}

// Decode decodes what was stored about a compile, such as the files that it read. The compile
// may have run in another checkout of the same sources. at is the root folder of the present
// checkout, to which the paths are adapted. Decode returns false if the data is malformed or of
// another version.
func Decode(data []byte, at Root) (*Record, bool) {
	d := Decoder{decode.Buffer{Data: data}, at}
	if d.ULEB() != recordForm {
		return nil, false
	}
	r := &Record{Root: at, Environment: d.ULEB(), Output: d.ULEB()}
	for _, files := range []*[]File{&r.Inputs, &r.Others} {
		for n := d.count(); n > 0 && d.Err == nil; n-- {
			*files = append(*files, d.input())
		}
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Watched = append(r.Watched, Watched{d.input(), d.Strings()})
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Folders = append(r.Folders, Folder{d.path(), d.ULEB(), d.ULEB(), d.ULEB()})
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Links = append(r.Links, Link{d.path(), d.path()})
	}
	r.Text = d.Data[d.Pos:]
	return r, d.Err == nil
}

// An Encoder encodes numbers and strings one after the other. The zero Encoder is ready to use.
type Encoder struct {
	Data []byte // the result
	root Root
}

// Uint appends a number to the encoded record.
func (e *Encoder) Uint(v uint64) { e.Data = binary.AppendUvarint(e.Data, v) }

// path appends a path to the encoded record. It replaces the root of the checkout at the beginning
// of the path by rootMark.
func (e *Encoder) path(path string) { e.String(e.root.Without(path)) }

// input appends the path and the state of a file to the encoded record.
func (e *Encoder) input(in File) {
	e.path(in.Path)
	e.Uint(in.State)
	e.Uint(in.Size)
	e.Uint(in.Content)
}

// String appends a string to the encoded record.
func (e *Encoder) String(s string) {
	e.Uint(uint64(len(s)))
	e.Data = append(e.Data, s...)
}

// Strings appends a list of strings to the encoded record.
func (e *Encoder) Strings(list []string) {
	e.Uint(uint64(len(list)))
	for _, s := range list {
		e.String(s)
	}
}

// A Decoder decodes what an [Encoder] has encoded, in the same order. Err is the first error.
type Decoder struct {
	decode.Buffer
	root Root
}

// count reads the length of a list, and checks that the list can fit into the rest of the data:
// each of its elements takes at least one byte.
func (d *Decoder) count() int {
	at := d.Pos
	return d.Count(at, d.ULEB(), 1, "things")
}

// input decodes the path and the state of a file from an encoded record.
func (d *Decoder) input() File {
	return File{d.path(), d.ULEB(), d.ULEB(), d.ULEB()}
}

// path decodes a path from an encoded record. It replaces rootMark at the beginning of the path by
// the root of the checkout. A rootMark elsewhere in the path is an error.
func (d *Decoder) path() string {
	at := d.Pos
	path := d.root.with(d.String())
	if strings.Contains(path, rootMark) {
		d.Fail(at, fault.ErrName, "path %q has a zero byte", path)
	}
	return path
}

// String decodes a string from an encoded record.
func (d *Decoder) String() string { return string(d.Take(d.ULEB(), "a string")) }

// Strings decodes a list of strings from an encoded record.
func (d *Decoder) Strings() []string {
	list := make([]string, 0, d.count())
	for range cap(list) {
		list = append(list, d.String())
	}
	return list
}

// A Root is the top folder of a checkout, without a separator at its end. An encoded record
// contains paths below it without the root, so that the record is also valid in another checkout of
// the same sources.
type Root string

// RootOf returns the root for a command that runs in dir: the base directory in ccache's settings
// if it contains dir, and otherwise dir itself.
func RootOf(dir string) Root {
	const separator = string(filepath.Separator)
	if base := os.Getenv("CCACHE_BASEDIR"); filepath.IsAbs(base) {
		base = strings.TrimSuffix(filepath.Clean(base), separator)
		if dir == base || strings.HasPrefix(dir, base+separator) {
			return Root(base)
		}
	}
	return Root(strings.TrimSuffix(dir, separator))
}

// rootMark replaces the root of the checkout in an encoded path. No path contains a zero byte.
const rootMark = "\x00"

// Without replaces the root at the beginning of a path by rootMark. It returns other paths
// unchanged.
func (r Root) Without(path string) string {
	rest, ok := strings.CutPrefix(path, string(r))
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return rootMark + rest
}

// with replaces rootMark at the beginning of an encoded path by the root, which may be that of
// another checkout than the one that encoded the path.
func (r Root) with(path string) string {
	if rest, ok := strings.CutPrefix(path, rootMark); ok {
		return string(r) + rest
	}
	return path
}

// WithoutAll replaces the root by rootMark in compiler arguments, at the beginning of an argument
// or after the name of an option. Macro definitions stay as they are, because their values are part
// of the preprocessed sources.
func (r Root) WithoutAll(args []string) []string {
	short := slices.Clone(args)
	for i, arg := range args {
		switch {
		case i > 0 && slices.Contains([]string{"-D", "-U", "-Xpreprocessor"}, args[i-1]):
		case !strings.HasPrefix(arg, "-"):
			short[i] = r.Without(arg)
		case !strings.HasPrefix(arg, "-D") && !strings.HasPrefix(arg, "-W"):
			if at := strings.IndexByte(arg, filepath.Separator); at > 0 {
				path, rest, pair := strings.Cut(arg[at:], "=") // as in -ffile-prefix-map=OLD=NEW
				if short[i] = arg[:at] + r.Without(path); pair {
					short[i] += "=" + rest
				}
			}
		}
	}
	return short
}

// StateOf returns a hash of a file's metadata that changes when the file is written or replaced,
// whatever its size and modification time are then. It is never 0.
func StateOf(info fs.FileInfo) uint64 {
	var state []byte
	for _, v := range append([]int64{info.Size(), info.ModTime().UnixNano()}, identity(info)...) {
		state = binary.LittleEndian.AppendUint64(state, uint64(v))
	}
	return max(1, xxhash.Sum64(state))
}
