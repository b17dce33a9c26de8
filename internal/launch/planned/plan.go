// Package planned caches the compiler commands that the launcher has prepared, so that the same
// compile can run again without preparing its command. It imports little, because a program that
// imports the whole launcher needs more time to start than this package needs to find a command.
package planned

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Plan is a prepared compiler command that reads the slice beside its object, together with
// everything that the command depends on. A plan is cached only if the launcher had no message for
// the user.
type Plan struct {
	Command []string // command line as the user gave it
	Dir     string   // in which the command runs, an absolute path
	Argv    []string // command line that runs instead of Command
	Env     []string // NAME=VALUE settings to add to the environment

	Programs []string      // pairs: a program in Command, and the path that $PATH leads to
	Files    []record.File // the compiler, the profile and the launcher
	Slice    string        // absolute path of the slice
	Stamp    Stamp
	Inputs   string // key of the cached record of the input files
	Text     uint64 // Record.Sum of that record
	Before   string // line to append to the statistics, up to the processor time
	After    string // rest of that line, after the processor time
}

// Key returns the key under which a prepared compiler command is cached: a hash of the launcher's
// arguments, the folder in which the launcher runs, and the environment variables that it reads.
func Key(args []string, dir string) string {
	h := xxhash.New()
	fmt.Fprintf(h, "%q\x00%q", dir, args)
	for _, name := range Variables {
		value, set := os.LookupEnv(name)
		fmt.Fprintf(h, "\x00%t%q", set, value)
	}
	fmt.Fprintf(h, "\x00%d", record.Environment())
	return strconv.FormatUint(h.Sum64(), 16)
}

// Variables are the environment variables that the launcher reads. Those that compilers read are
// not among them.
var Variables = []string{
	"AFDO_CACHE_DAYS", "AFDO_CACHE_DIR", "AFDO_CACHE_SIZE", "AFDO_PROFILE",
	"CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_PREFIX", "HOME", "ICECC", "PATH", "XDG_CACHE_HOME",
}

// Keep stores the plan, which is a prepared compiler command, in the cache.
func (p *Plan) Keep(cache *store.Store, key string) { cache.Put(store.Plans, key, p.encode()) }

// Find returns the prepared compiler command that is cached under a key, if it is for the command
// argv in dir and nothing that it depends on has changed. Otherwise it returns nil.
func Find(cache *store.Store, key string, argv []string, dir string) *Plan {
	data, ok := cache.Get(store.Plans, key)
	if !ok {
		return nil
	}
	p := decode(string(data))
	if p == nil || p.Dir != dir || !slices.Equal(p.Command, argv) || !p.holds(cache) {
		return nil
	}
	return p
}

// holds reports whether the launcher would prepare the same command again: programs, files, inputs
// and the slice are unchanged, no launcher started this process, and the cache need not be trimmed.
func (p *Plan) holds(cache *store.Store) bool {
	if ParentLauncher() != "" || cache.TrimDue() {
		return false
	}
	for i := 0; i < len(p.Programs); i += 2 {
		if path, err := exec.LookPath(p.Programs[i]); err != nil || path != p.Programs[i+1] {
			return false
		}
	}
	for _, was := range p.Files {
		if now := record.Look(p.Dir, was.Path); now.State != was.State || now.State == 0 {
			return false
		}
	}
	data, ok := cache.Get(store.Inputs, p.Inputs)
	if !ok {
		return false
	}
	in, ok := record.Decode(data, record.RootOf(p.Dir))
	if !ok || in.Sum() != p.Text || !in.Holds(cache, p.Dir) {
		return false
	}
	if in.Renewed {
		cache.Put(store.Inputs, p.Inputs, in.Encode())
	}
	return p.Stamp.Holds(cache, p.Slice, in)
}

// Environ returns the environment of this process with the plan's settings, which replace others of
// the same name.
func (p *Plan) Environ() []string {
	command := exec.Cmd{Env: append(os.Environ(), p.Env...)}
	return command.Environ()
}

// Count adds one run of the prepared compiler command, with the processor time that it took, to the
// launcher's statistics. It reports whether it could.
func (p *Plan) Count(cache *store.Store, took time.Duration) bool {
	return cache.AppendStats(p.Before + strconv.FormatInt(int64(took), 10) + p.After)
}

// ParentLauncher returns the name of the program that started this process if that program is a
// compiler launcher, such as ccache. It returns "" for other programs and if the system does not
// report the parent.
func ParentLauncher() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	if err == nil && command.IsLauncher(strings.TrimSpace(string(name))) {
		return strings.TrimSpace(string(name))
	}
	return ""
}

// form is the version of the encoding of plans, and the first field of each. Change it whenever the
// other fields change.
const form = "1"

// encode encodes the plan, a prepared compiler command, as fields separated by zero bytes. Each
// list is preceded by its length.
func (p *Plan) encode() []byte {
	fields := []string{form}
	list := func(of []string) { fields = append(append(fields, strconv.Itoa(len(of))), of...) }
	list(p.Command)
	list(p.Argv)
	list(p.Env)
	list(p.Programs)
	var states []string
	for _, f := range p.Files {
		states = append(states, f.Path, strconv.FormatUint(f.State, 10))
	}
	list(states)
	fields = append(fields, p.Dir, p.Slice, strconv.FormatUint(uint64(p.Stamp), 10), p.Inputs, strconv.FormatUint(p.Text, 10), p.Before, p.After)
	return []byte(strings.Join(fields, "\x00"))
}

// decode returns the plan, a prepared compiler command, that encode has encoded. It returns nil if
// the data is malformed.
func decode(data string) *Plan {
	d := decoder{fields: strings.Split(data, "\x00")}
	if d.next() != form {
		return nil
	}
	p := &Plan{Command: d.list(), Argv: d.list(), Env: d.list(), Programs: d.list()}
	states := d.list()
	for i := 0; i+1 < len(states); i += 2 {
		p.Files = append(p.Files, record.File{Path: states[i], State: d.number(states[i+1])})
	}
	p.Dir, p.Slice, p.Stamp, p.Inputs = d.next(), d.next(), Stamp(d.number(d.next())), d.next()
	p.Text, p.Before, p.After = d.number(d.next()), d.next(), d.next()
	if d.bad || len(d.fields) != 0 || len(p.Argv) == 0 || len(states)%2 != 0 || len(p.Programs)%2 != 0 {
		return nil
	}
	return p
}

// A decoder reads the fields of an encoded compiler command, from the first to the last.
type decoder struct {
	fields []string
	bad    bool // a field was missing or malformed
}

func (d *decoder) next() string {
	if len(d.fields) == 0 {
		d.bad = true
		return ""
	}
	field := d.fields[0]
	d.fields = d.fields[1:]
	return field
}

func (d *decoder) number(field string) uint64 {
	n, err := strconv.ParseUint(field, 10, 64)
	d.bad = d.bad || err != nil
	return n
}

func (d *decoder) list() []string {
	n := d.number(d.next())
	if d.bad || n > uint64(len(d.fields)) {
		d.bad = true
		return nil
	}
	list := d.fields[:n:n]
	d.fields = d.fields[n:]
	return list
}

// A Stamp is a hash of everything that a slice was made of, such as the profile and the compiler,
// except the line numbers of functions in the sources. If the stamp and the state of the input
// files are unchanged, the launcher need not read the profile to know that it would make the same
// slice.
type Stamp uint64

// keptSize is the size in bytes of the entry that the cache has for each slice: the stamp, a hash
// of the slice, and the state of the input files. The last number is 0 if the slice does not depend
// on line numbers in the sources.
const keptSize = 3 * 8

// Holds reports whether the slice file at path is up to date: its bytes are those that were
// written, and it was made with this stamp. If the slice depends on line numbers in the input files
// of record in, these must be unchanged as well.
func (s Stamp) Holds(cache *store.Store, path string, in *record.Record) bool {
	kept, ok := cache.Get(store.Stamps, path)
	if !ok || len(kept) != keptSize || binary.LittleEndian.Uint64(kept) != uint64(s) {
		return false
	}
	if inputs := binary.LittleEndian.Uint64(kept[16:]); inputs != 0 && inputs != in.State() {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := files.ReadFile(path, info.Size())
	return err == nil && binary.LittleEndian.Uint64(kept[8:]) == xxhash.Sum64(data)
}

// Keep stores the stamp of the slice at path in the cache, with a hash of data, the content of the
// slice. inputs is the state of the input files, or 0 if the slice does not depend on line numbers
// in them.
func (s Stamp) Keep(cache *store.Store, path string, data []byte, inputs uint64) {
	kept := binary.LittleEndian.AppendUint64(nil, uint64(s))
	kept = binary.LittleEndian.AppendUint64(kept, xxhash.Sum64(data))
	cache.Put(store.Stamps, path, binary.LittleEndian.AppendUint64(kept, inputs))
}
