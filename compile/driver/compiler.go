package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Compiler is a compiler of GCC, or clang, that has been asked for its version.
type Compiler struct {
	Path    string // of the program
	Version string // such as 12.2.0
	Clang   bool
	reads   uint32
}

// Reads returns the version of the profile format that the compiler reads: 2 for GCC 12 to 15, 3
// from GCC 16 on, 0 for clang, which has its own formats.
func (c *Compiler) Reads() uint32 { return c.reads }

// ReadsNoBlocks reports whether the compiler is GCC 12, which does not distinguish the blocks of a
// line. It drops the discriminators of counts when it reads a profile, so that the last count of a
// line becomes the count of the whole line, and it looks for inlined bodies by the line alone.
func (c *Compiler) ReadsNoBlocks() bool { return c.isGCC(12) }

// isGCC reports whether the compiler is a major version of GCC.
func (c *Compiler) isGCC(major int) bool {
	first, _, _ := strings.Cut(c.Version, ".")
	return !c.Clang && first == strconv.Itoa(major)
}

// target returns what a slice for the compiler is to hold.
func (c *Compiler) target() slice.Target {
	if c.Clang {
		return slice.ForClang
	}
	return slice.Target(c.reads)
}

// readsThreshold reports whether the compiler is known to read no more of a summary than
// [slice.Steady] keeps: GCC 16 is.
func (c *Compiler) readsThreshold() bool { return !c.Clang && strings.HasPrefix(c.Version, "16.") }

// ErrNotGCC is what the errors of [FindCompiler] match if a program is no
// compiler of GCC, or one older than version 12.
var ErrNotGCC = errors.New("not GCC 12 or later")

// FindCompiler finds the compiler of a command, and asks it for its version unless the cache knows
// the version of that program.
func FindCompiler(ctx context.Context, c *command.Line, cache *Cache) (*Compiler, error) {
	path, err := c.CompilerPath()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s\x00%d", path, record.StateOf(info))
	version, ok := cache.files().Get(store.Compilers, key)
	if !ok {
		if version, err = askVersion(ctx, path); err != nil {
			return nil, err
		}
		cache.files().Put(store.Compilers, key, version)
	}
	if c.Clang {
		return newClang(path, string(version))
	}
	return newCompiler(path, string(version))
}

// withoutCompiler returns the error of a stage for one of FindCompiler. A command whose compiler is
// too old, or is not there, runs as it is.
func (r *run) withoutCompiler(err error) error {
	switch {
	case errors.Is(err, ErrNotGCC):
		r.warnOf(ReasonOldGCC, "%v: it runs without the profile", err)
		return &unchanged{ReasonOldGCC, err.Error()}
	case errors.Is(err, ErrNotClang):
		r.warnOf(ReasonOldClang, "%v: it runs without a slice", err)
		return &unchanged{ReasonOldClang, err.Error()}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return &unchanged{ReasonNoCompiler, err.Error()} // to run it reports that
	}
	return err
}

// String returns the name and the version of the compiler.
func (c *Compiler) String() string {
	if c.Clang {
		return "clang " + c.Version
	}
	return "GCC " + c.Version
}

// ErrNotClang is what the errors of [FindCompiler] match if a program that is called clang is none,
// or one older than version 14, whose formats are not known to be the same.
var ErrNotClang = errors.New("not clang 14 or later")

const firstClang = 14

// clangVersion is the text before the version in clang's output.
const clangVersion = "clang version "

func newClang(path, about string) (*Compiler, error) {
	version, ok := strings.CutPrefix(about, clangVersion)
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	if !ok || err != nil || major < firstClang {
		return nil, fmt.Errorf("%s: %w", path, ErrNotClang)
	}
	return &Compiler{Path: path, Version: version, Clang: true}, nil
}

// firstMajor is the first version of GCC that reads version 2. GCC 11 says that "profile version 2
// does match 1", and compiles nothing.
const firstMajor = 12

func newCompiler(path, version string) (*Compiler, error) {
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	if err != nil || major < firstMajor {
		return nil, fmt.Errorf("%s: %w", path, ErrNotGCC)
	}
	c := &Compiler{Path: path, Version: version, reads: 2}
	if major >= 16 {
		c.reads = 3
	}
	return c, nil
}

// askVersion returns the version of a compiler, with a word before it if it is clang, and empty if
// it is neither that nor of GCC.
func askVersion(ctx context.Context, path string) ([]byte, error) {
	// Others take the options of GCC, and some even claim to be an old version of it.
	about, err := ask(ctx, path, "--version")
	if err != nil {
		return nil, err
	}
	if at := bytes.Index(about, []byte(clangVersion)); at >= 0 {
		word, _, _ := bytes.Cut(about[at+len(clangVersion):], []byte{' '})
		word, _, _ = bytes.Cut(word, []byte{'\n'})
		return append([]byte(clangVersion), word...), nil
	}
	if !bytes.Contains(about, []byte("Free Software Foundation")) {
		return nil, nil
	}
	version, err := ask(ctx, path, "-dumpfullversion", "-dumpversion")
	return bytes.TrimSpace(version), err
}

// ask runs a compiler and returns its output. A compiler that fails has no output, which is not an
// error.
func ask(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, nil
	}
	return out, err
}
