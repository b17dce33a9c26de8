// Package planned keeps what the launcher has prepared for a command, so that the command can run
// again without preparing it. It imports little, because a program that imports the whole launcher
// needs more time to start than this package needs to find a plan.
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

// A Plan is a command that gets the slice beside its object, and everything that decided this. A
// plan is kept only if the launcher had nothing to report.
type Plan struct {
	Command []string // as it was given
	Dir     string   // of the command, an absolute path
	Argv    []string // what runs instead
	Env     []string // settings that the environment needs besides

	Programs []string      // words of the command, each before the path that $PATH leads to
	Files    []record.File // the compiler, the profile and the launcher
	Slice    string        // an absolute path
	Stamp    Stamp
	Inputs   string // the key of the record of the inputs
	Text     uint64 // the sum of that record
	Before   string // the line of the statistics before the processor's time
	After    string // and after it
}

// Key returns the key of the plan for arguments of the launcher in a folder. It depends on the
// variables of the environment that the launcher reads.
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

// Variables are the variables of the environment that decide what the launcher does, besides those
// that compilers read.
var Variables = []string{
	"AFDO_CACHE_DAYS", "AFDO_CACHE_DIR", "AFDO_CACHE_SIZE", "AFDO_PROFILE",
	"CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_PREFIX", "HOME", "ICECC", "PATH", "XDG_CACHE_HOME",
}

// Keep keeps a plan.
func (p *Plan) Keep(cache *store.Store, key string) { cache.Put(store.Plans, key, p.encode()) }

// Find returns the plan that is kept under a key if it would be made again for a command in a
// folder, and otherwise nil.
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

// holds reports whether nothing that decided the plan has changed.
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

// Count adds the command to the statistics, and reports whether it could.
func (p *Plan) Count(cache *store.Store, took time.Duration) bool {
	return cache.AppendStats(p.Before + strconv.FormatInt(int64(took), 10) + p.After)
}

// ParentLauncher returns the name of the launcher that started this process, if the system knows
// the parent and the parent is a launcher.
func ParentLauncher() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	if err == nil && command.IsLauncher(strings.TrimSpace(string(name))) {
		return strings.TrimSpace(string(name))
	}
	return ""
}

// form is the first field of a plan, and changes with the fields after it.
const form = "1"

// encode returns the fields with a zero byte after each. A number precedes each list.
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

// decode returns a plan, nil if it is malformed.
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

// A decoder takes fields from the front.
type decoder struct {
	fields []string
	bad    bool
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

// A Stamp is a hash of everything that a slice was made of, except the lines of the inputs. With it
// and the state of the inputs, the next run knows without reading the profile that it would make
// the same slice.
type Stamp uint64

// The cache keeps three numbers for each slice: the stamp, a hash of the slice, and the state of
// the inputs. The third number is 0 if the slice does not depend on the lines of the inputs.
const keptSize = 3 * 8

// Holds reports whether the slice at path is unchanged since it was made, and was made of this
// profile, compiler, options and text.
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

// Keep remembers for a slice its stamp, its bytes and the state of its inputs, or 0.
func (s Stamp) Keep(cache *store.Store, path string, data []byte, inputs uint64) {
	kept := binary.LittleEndian.AppendUint64(nil, uint64(s))
	kept = binary.LittleEndian.AppendUint64(kept, xxhash.Sum64(data))
	cache.Put(store.Stamps, path, binary.LittleEndian.AppendUint64(kept, inputs))
}
