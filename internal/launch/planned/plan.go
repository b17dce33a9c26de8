// Package planned caches the compiler commands that the launcher has prepared, so that the same
// compile can run again without preparing its command. It imports little, because a program that
// imports the whole launcher needs more time to start than this package needs to find a command.
package planned

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Plan is a compiler command that the launcher has prepared, with everything that the command
// depends on. The command reads the slice beside its object. A plan is cached only if the launcher
// had no message for the user.
type Plan struct {
	Command []string // command line as the user gave it
	Dir     string   // in which the command runs, an absolute path
	Argv    []string // command line that runs instead of Command
	Env     []string // NAME=VALUE settings to add to the environment

	Program string        // the compiler in Command if its path comes from $PATH, else empty
	Path    string        // to which $PATH leads
	Files   []record.File // the compiler, the profile and the launcher
	Slice   string        // absolute path of the slice
	Stamp   Stamp
	Inputs  string // key of the cached record of the input files
	Result  uint64 // Record.Result of that record
	Before  string // line to append to the statistics, up to the processor time
	After   string // rest of that line, after the processor time
}

// Key returns the cache key of the compiler command that a launcher prepares for argv in dir, an
// absolute path. It depends on argv, on dir, on the launcher's flags, each as NAME=VALUE in any
// order, and on the environment variables that the launcher reads.
func Key(flags, argv []string, dir string) string {
	h := xxhash.New()
	fmt.Fprintf(h, "%q\x00%q", dir, append(slices.Sorted(slices.Values(flags)), argv...))
	for _, name := range variables {
		value, set := os.LookupEnv(name)
		fmt.Fprintf(h, "\x00%t%q", set, value)
	}
	fmt.Fprintf(h, "\x00%d", record.Environment(os.Environ()))
	return strconv.FormatUint(h.Sum64(), 16)
}

// variables are the environment variables that the launcher reads. Those that compilers read are
// not among them.
var variables = []string{
	"AFDO_CACHE_DAYS", "AFDO_CACHE_DIR", "AFDO_CACHE_SIZE", "AFDO_PROFILE",
	"CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_PREFIX", "HOME", "ICECC", "LD_PRELOAD", "PATH", "XDG_CACHE_HOME",
}

// Keep stores the plan, which is a prepared compiler command, in the cache.
func (p *Plan) Keep(cache *store.Store, key string) { cache.Put(store.Plans, key, p.encode()) }

// Find returns the prepared compiler command with a key, for the command argv in dir, from the
// default cache. It returns nil if there is none, or if the compiler, the profile, the slice, an
// input or the launcher has changed, so that the launcher might prepare another command. Find
// checks the state of each input file, and counts the compile in the launcher's statistics. It runs
// no program.
func Find(key string, argv []string, dir string) *Plan {
	start := ProcessorTime()
	cache, err := store.Default()
	if err != nil {
		return nil
	}
	data, _ := cache.Get(store.Plans, key)
	p := decodePlan(data)
	if p == nil || p.Dir != dir || !slices.Equal(p.Command, argv) || !p.holds(cache) {
		return nil
	}
	took := strconv.FormatInt(int64(ProcessorTime()-start), 10)
	if !cache.AppendStats(p.Before + took + p.After) {
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
	if p.Program != "" {
		if path, err := exec.LookPath(p.Program); err != nil || path != p.Path {
			return false
		}
	}
	for _, was := range p.Files {
		if now := record.Look(p.Dir, was.Path); now.State != was.State || now.State == 0 {
			return false
		}
	}
	data, _ := cache.Get(store.Inputs, p.Inputs)
	in, ok := record.Decode(data, record.RootOf(p.Dir))
	if !ok || in.Result() != p.Result || !in.Holds(cache, p.Dir, os.Environ()) {
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

// form is the version of the encoding of plans, and the first number of each encoded plan. Change
// it whenever the encoding changes.
const form = 2

// encode returns the plan in the form in which the cache stores it.
func (p *Plan) encode() []byte {
	var e record.Encoder
	e.Uint(form)
	for _, list := range [][]string{p.Command, p.Argv, p.Env, {p.Program, p.Path, p.Dir, p.Slice, p.Inputs, p.Before, p.After}} {
		e.Strings(list)
	}
	e.Uint(uint64(p.Stamp))
	e.Uint(p.Result)
	for _, f := range p.Files {
		e.String(f.Path)
		e.Uint(f.State)
	}
	return e.Data
}

// decodePlan decodes what [Plan.encode] returned. It returns nil if the data is malformed, which
// includes a NUL in the command line or in the environment: no program can be started with it.
func decodePlan(data []byte) *Plan {
	d := record.Decoder{Buffer: decode.Buffer{Data: data}}
	if d.ULEB() != form {
		return nil
	}
	p := &Plan{Command: d.Strings(), Argv: d.Strings(), Env: d.Strings()}
	words := d.Strings()
	p.Stamp, p.Result = Stamp(d.ULEB()), d.ULEB()
	for d.Err == nil && d.Rest() > 0 {
		p.Files = append(p.Files, record.File{Path: d.String(), State: d.ULEB()})
	}
	hasNUL := slices.ContainsFunc(slices.Concat(p.Argv, p.Env), func(s string) bool { return strings.Contains(s, "\x00") })
	if d.Err != nil || hasNUL || len(p.Argv) == 0 || len(words) != 7 {
		return nil
	}
	p.Program, p.Path, p.Dir, p.Slice, p.Inputs, p.Before, p.After = words[0], words[1], words[2], words[3], words[4], words[5], words[6]
	return p
}

// A Stamp is a hash of everything that a slice was made of, such as the profile and the compiler,
// except the line numbers of functions in the sources. If the stamp and the state of the input
// files are unchanged, the launcher need not read the profile to know that it would make the same
// slice.
type Stamp uint64

// Holds reports whether the slice file at path is up to date: its bytes are those that were
// written, and it was made with this stamp. If the slice depends on line numbers in the input files
// of record in, these must be unchanged as well.
func (s Stamp) Holds(cache *store.Store, path string, in *record.Record) bool {
	kept, _ := cache.Get(store.Stamps, path)
	d := record.Decoder{Buffer: decode.Buffer{Data: kept}}
	stamp, sum, inputs := d.ULEB(), d.ULEB(), d.ULEB()
	if d.Err != nil || stamp != uint64(s) || inputs != 0 && inputs != in.State() {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := files.ReadFile(path, info.Size())
	return err == nil && sum == xxhash.Sum64(data)
}

// Keep stores the stamp of the slice at path in the cache, with a hash of data, the content of the
// slice. inputs is the state of the input files, or 0 if the slice does not depend on line numbers
// in them.
func (s Stamp) Keep(cache *store.Store, path string, data []byte, inputs uint64) {
	var e record.Encoder
	e.Uint(uint64(s))
	e.Uint(xxhash.Sum64(data))
	e.Uint(inputs)
	cache.Put(store.Stamps, path, e.Data)
}
