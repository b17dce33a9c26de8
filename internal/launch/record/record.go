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
	"time"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Record is what the cache has of the inputs of a command.
type Record struct {
	Key string // under which the cache has it

	Root Root
	Text []byte // what the command has printed, encoded

	// What the command has asked of the file system, and the answers.
	Inputs  []File    // the files that are the text
	Others  []File    // other files that it opened: programs, libraries, settings
	Watched []Watched // what it did not find
	Folders []Folder  // the folders that it found
	Links   []Link    // the symbolic links on the way

	// Environment is [WholeEnvironment] if the command runs a program whose variables are unknown,
	// and otherwise 0.
	Environment uint64

	Renewed bool // Holds has put states into the record that are worth storing
}

// A Folder is a folder that a compiler may search.
type Folder struct {
	Path  string
	Same  uint64 // the number of the first folder in the list that is the same one, such as by a link
	Names uint64 // a hash of the names in it if they were listed, else 0
}

// A Link is a symbolic link.
type Link struct{ Path, To string }

// A File is a file or a folder as it was when it was looked at.
type File struct {
	Path    string
	State   uint64 // 0 if it is not there
	Size    uint64
	Content uint64 // a hash of it, 0 for what is not read: folders, and files that are not there
}

// A Watched is a folder that is searched for files that do not exist. If such a file is created, or
// a folder on the way to it, one of the missing names appears in the watched folder.
type Watched struct {
	Folder  File
	Missing []string
}

// appeared reports whether one of the missing names is in the folder, which now has another state,
// and whether that took long to find out. The folder is listed, since a source with many includes
// misses hundreds of names in each folder that is searched first. Some systems treat names as the
// same that differ in case, or in how letters outside ASCII are written. So if a listed name is
// similar to a missing one, the system decides.
func (w *Watched) appeared(dir string, state uint64) (found, slow bool) {
	folder := PathIn(dir, w.Folder.Path)
	there, err := namesOf(folder, state)
	found = slices.ContainsFunc(w.Missing, func(name string) bool {
		near := err != nil || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) || name == "." || name == ".." || there[strings.ToLower(name)]
		return near && Exists(folder, name)
	})
	return found, err != nil || len(there) >= longListing
}

// longListing is the number of names in a folder from which listing it at the next compile takes
// longer than storing its new state now. Listing takes 0.3 us a name, storing 125 us. A folder with
// objects gets a new state with every compile, so storing it would be in vain.
const longListing = 400

// A listing is the names in a folder at a time when it had a state, in lower case.
type listing struct {
	state uint64
	names map[string]bool
}

// listings has the last listing of each folder, by path. When a process looks at all compiles of a
// build, most of them watch the same folders.
var listings sync.Map

// namesOf returns the names in a folder that has a state, in lower case.
func namesOf(folder string, state uint64) (map[string]bool, error) {
	if last, ok := listings.Load(folder); ok && last.(listing).state == state {
		return last.(listing).names, nil
	}
	f, err := os.Open(folder)
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

// Look looks at a file or folder, but not into it. A path that is not absolute is of the folder
// dir.
func Look(dir, path string) File {
	in, _ := LookAt(dir, path)
	return in
}

// LookAt is Look, and also returns when the file was last changed or replaced.
func LookAt(dir, path string) (in File, changed time.Time) {
	info, err := os.Stat(PathIn(dir, path))
	if err != nil {
		return File{Path: path}, changed
	}
	return File{Path: path, State: StateOf(info), Size: uint64(info.Size())}, changedAt(info)
}

// changedAt returns when a file was last changed or replaced, whatever its time is set to.
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

// BufferSize is the size in bytes of the buffer through which files are read. A compile reads
// hundreds of files: a new buffer for each would be that much more memory to get from the system.
const BufferSize = 64 << 10

// LookInto hashes a file that has been looked at, through a buffer. It fails if the file is another
// one by the time it has been read.
func (in *File) LookInto(dir string, buf []byte) bool {
	path := PathIn(dir, in.Path)
	f, info, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() > MaxSource {
		return false
	}
	h := xxhash.New()
	for err == nil {
		var n int
		n, err = f.Read(buf)
		_, _ = h.Write(buf[:n])
	}
	if err != io.EOF {
		return false
	}
	in.Content = max(1, h.Sum64())
	info, err = f.Stat()
	return err == nil && StateOf(info) == in.State
}

// largeFile is the size in bytes of files whose hash the cache keeps, such as compilers and their
// libraries: hashing 50 MB takes 10 ms, and each record of a build has the same ones.
const largeFile = 1 << 20

// hash is LookInto, with a hash from the cache if the file is large.
func (in *File) hash(cache *store.Store, dir string, buf []byte) bool {
	if in.Size < largeFile {
		return in.LookInto(dir, buf)
	}
	key := fmt.Sprintf("content\x00%s\x00%d", PathIn(dir, in.Path), in.State)
	if data, ok := cache.Get(store.Compilers, key); ok && len(data) == 8 {
		in.Content = binary.LittleEndian.Uint64(data)
		return true
	}
	if !in.LookInto(dir, buf) {
		return false
	}
	cache.Put(store.Compilers, key, binary.LittleEndian.AppendUint64(nil, in.Content))
	return true
}

// sameContent reports whether a file whose state has changed, as after a checkout, still has its
// recorded content. If so, the record gets the new state.
func (in *File) sameContent(cache *store.Store, dir string, now File, buf []byte) bool {
	if in.Content == 0 || in.Size != now.Size || !now.hash(cache, dir, buf) || now.Content != in.Content {
		return false
	}
	*in = now
	return true
}

// PathIn returns a path of the folder dir, and an absolute path as it is. It keeps "..", because
// the name before it may be a link.
func PathIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

func Exists(dir, path string) bool {
	_, err := os.Stat(PathIn(dir, path))
	return err == nil
}

// Paths returns the paths of the inputs, as the compiler names them.
func (r *Record) Paths() []string {
	files := make([]string, len(r.Inputs))
	for i := range r.Inputs {
		files[i] = r.Inputs[i].Path
	}
	return files
}

// Sum returns a number that changes when the text means something else to slices.
func (r *Record) Sum() uint64 { return xxhash.Sum64(r.Text) }

// State returns a number that changes when one of the files does, or a part of the compiler. It is
// the same for another checkout of the same files.
func (r *Record) State() uint64 {
	e := encoder{root: r.Root}
	for _, files := range [][]File{r.Inputs, r.Others} {
		for _, in := range files {
			e.path(in.Path)
			e.uint(in.Content)
		}
	}
	return xxhash.Sum64(e.data)
}

// Holds reports whether a command that runs in a folder would print the recorded text: whether the
// file system gives the same answers. If a file was written again with its old content, or a folder
// has changed but no missing file has appeared in it, Holds puts the new state of this file or
// folder into the record. It sets Renewed if storing the record makes the next call faster.
func (r *Record) Holds(cache *store.Store, dir string) bool {
	if r.Environment != 0 && r.Environment != WholeEnvironment() || !r.foldersHold(dir) {
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
				buf = make([]byte, BufferSize)
			}
			if !was.sameContent(cache, dir, now, buf) {
				return false
			}
			r.Renewed = true
		}
	}
	for _, link := range r.Links {
		if to, err := os.Readlink(PathIn(dir, link.Path)); err != nil || to != link.To {
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

// recordForm is the first thing in a record, and changes with what follows it or how that is found.
const recordForm = 9

// Encode returns the record as the cache has it.
func (r *Record) Encode() []byte {
	e := encoder{root: r.Root}
	e.uint(recordForm)
	e.uint(r.Environment)
	for _, files := range [][]File{r.Inputs, r.Others} {
		e.uint(uint64(len(files)))
		for _, in := range files {
			e.input(in)
		}
	}
	e.uint(uint64(len(r.Watched)))
	for _, w := range r.Watched {
		e.input(w.Folder)
		e.strings(w.Missing)
	}
	e.uint(uint64(len(r.Folders)))
	for _, f := range r.Folders {
		e.path(f.Path)
		e.uint(f.Same)
		e.uint(f.Names)
	}
	e.uint(uint64(len(r.Links)))
	for _, link := range r.Links {
		e.path(link.Path)
		e.path(link.To)
	}
	return append(e.data, r.Text...)
}

// Decode decodes a record for a checkout, which may be another one than it was made for.
func Decode(data []byte, at Root) (*Record, bool) {
	d := decoder{decode.Buffer{Data: data}, at}
	if d.ULEB() != recordForm {
		return nil, false
	}
	r := &Record{Root: at, Environment: d.ULEB()}
	for _, files := range []*[]File{&r.Inputs, &r.Others} {
		for n := d.count(); n > 0 && d.Err == nil; n-- {
			*files = append(*files, d.input())
		}
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Watched = append(r.Watched, Watched{d.input(), d.strings()})
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Folders = append(r.Folders, Folder{d.path(), d.ULEB(), d.ULEB()})
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.Links = append(r.Links, Link{d.path(), d.path()})
	}
	r.Text = d.Data[d.Pos:]
	return r, d.Err == nil
}

type encoder struct {
	data []byte
	root Root
}

func (e *encoder) uint(v uint64) { e.data = binary.AppendUvarint(e.data, v) }

func (e *encoder) path(path string) { e.string(e.root.Without(path)) }

func (e *encoder) input(in File) {
	e.path(in.Path)
	e.uint(in.State)
	e.uint(in.Size)
	e.uint(in.Content)
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.data = append(e.data, s...)
}

func (e *encoder) strings(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

// A decoder reads what an encoder wrote.
type decoder struct {
	decode.Buffer
	root Root
}

// count reads the number of things that take a byte at least.
func (d *decoder) count() int {
	at := d.Pos
	return d.Count(at, d.ULEB(), 1, "things")
}

func (d *decoder) input() File {
	return File{d.path(), d.ULEB(), d.ULEB(), d.ULEB()}
}

// path reads a path. A zero byte represents the root at the start of a path, and is an error
// elsewhere.
func (d *decoder) path() string {
	at := d.Pos
	path := d.root.with(d.string())
	if strings.Contains(path, rootMark) {
		d.Fail(at, fault.ErrName, "path %q has a zero byte", path)
	}
	return path
}

func (d *decoder) string() string { return string(d.Take(d.ULEB(), "a string")) }

func (d *decoder) strings() []string {
	list := make([]string, 0, d.count())
	for range cap(list) {
		list = append(list, d.string())
	}
	return list
}

// A Root is the folder of a checkout, without a separator at its end. Records contain paths below
// it without it, so that the records of one checkout are valid in another one with the same text.
type Root string

// RootOf returns the root of a command that runs in a folder: the base directory in ccache's
// settings, if it contains the folder, or else the folder itself.
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

// rootMark represents the root. Paths cannot contain it.
const rootMark = "\x00"

// Without returns a path with a mark for the root that it begins with.
func (r Root) Without(path string) string {
	rest, ok := strings.CutPrefix(path, string(r))
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return rootMark + rest
}

// with undoes Without, for the same root or another one.
func (r Root) with(path string) string {
	if rest, ok := strings.CutPrefix(path, rootMark); ok {
		return string(r) + rest
	}
	return path
}

// WithoutAll returns arguments in which a mark replaces the root, at the beginning of an argument
// or after the name of an option. Definitions of macros do not change, because their value is part
// of the text.
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

// StateOf returns a number that changes when a file does, or another one takes its place, whatever
// their size and time. It is not 0.
func StateOf(info fs.FileInfo) uint64 {
	var state []byte
	for _, v := range append([]int64{info.Size(), info.ModTime().UnixNano()}, identity(info)...) {
		state = binary.LittleEndian.AppendUint64(state, uint64(v))
	}
	return max(1, xxhash.Sum64(state))
}
