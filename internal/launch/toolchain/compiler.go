// Package toolchain finds the compiler of a command, asks it for its version, and records which
// paths the compiler looks up when it runs.
package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/trace"
)

// A Compiler is a GCC or clang whose version is known.
type Compiler struct {
	Path    string // of the program
	Version string // such as 12.2.0
	Clang   bool
	major   int    // the first number of Version
	reads   uint32 // profile version, see Reads
}

// Reads returns the version of the GCOV profile format that the compiler reads: 2 for GCC 12 to 15,
// 3 from GCC 16 on, 0 for clang, which has formats of its own.
func (c *Compiler) Reads() uint32 { return c.reads }

// ReadsNoBlocks reports whether the compiler is GCC 12, which does not distinguish the basic blocks
// of a line. It drops the discriminators of counts when it reads a profile, so that the last count
// of a line becomes the count of the whole line. It looks for inlined bodies by the line alone.
func (c *Compiler) ReadsNoBlocks() bool { return c.IsGCC(12) }

// IsGCC reports whether the compiler is GCC of the given major version.
func (c *Compiler) IsGCC(major int) bool { return !c.Clang && c.major == major }

// ReadsThreshold reports whether the compiler reads only those entries of a profile's summary that
// slice.Steady keeps. This is known of GCC 16.
func (c *Compiler) ReadsThreshold() bool { return c.IsGCC(16) }

// ErrNotGCC matches the errors of [Find] for a program that is not GCC, or is older than version
// 12.
var ErrNotGCC = errors.New("not GCC 12 or later")

// Find finds the compiler of a command and asks it for its version. The version is cached until one
// of the files that the compiler looked up changes. If the compiler is a script, a changed
// environment also invalidates it.
func Find(ctx context.Context, c *command.Line, cache *store.Store) (*Compiler, error) {
	path, err := c.CompilerPath()
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, path, c.Dir, c.Env, cache)
	if err != nil {
		return nil, err
	}
	if c.Clang {
		return newClang(path, version)
	}
	return newCompiler(path, version)
}

// versionOf returns the version of the compiler at path, in the form in which askVersion returns
// it. If the cache has the version, the compiler does not run. Otherwise the compiler runs in the
// folder dir, with the environment env, to print it.
func versionOf(ctx context.Context, path, dir string, env []string, cache *store.Store) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		dir = string(filepath.Separator) // the folder is reported when the compiler runs there
	}
	key := "version\x00" + path
	data, _ := cache.Get(store.Compilers, key)
	if r, ok := record.Decode(data, ""); ok && r.Holds(cache, dir, env) {
		return string(r.Text), nil
	}
	o := NewObserver(path, dir, env)
	version, err := askVersion(ctx, o)
	if err != nil {
		return "", err
	}
	r := &record.Record{Text: []byte(version)}
	if o.blind && o.plain && !o.foreign { // a compiler that the system cannot observe
		o.blind, o.asked = false, map[string]trace.Use{path: trace.Open}
	}
	if o.Fill(r, cache, nil) {
		cache.Put(store.Compilers, key, r.Encode())
	}
	return version, nil
}

// String returns the name and the version of the compiler.
func (c *Compiler) String() string {
	if c.Clang {
		return "clang " + c.Version
	}
	return "GCC " + c.Version
}

// ErrNotClang matches the errors of [Find] for a program that is called clang but is not clang, or
// is older than version 14. It is not known whether older versions read the same formats.
var ErrNotClang = errors.New("not clang 14 or later")

// firstClang is the first version of clang that is accepted.
const firstClang = 14

// clangVersion is the text before the version in clang's output.
const clangVersion = "clang version "

// newClang returns a clang, given the version that it has printed, with the text "clang version ".
func newClang(path, about string) (*Compiler, error) {
	version, ok := strings.CutPrefix(about, clangVersion)
	c := &Compiler{Path: path, Version: version, Clang: true, major: majorOf(version)}
	if !ok || !c.IsSince(firstClang) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotClang)
	}
	return c, nil
}

// firstMajor is the first version of GCC that reads profiles of version 2. GCC 11 rejects them with
// "profile version 2 does match 1", and compiles nothing. firstAsked is the first version of GCC
// with an option that prints which version of the profile format it reads.
const (
	firstMajor = 12
	firstAsked = 16
)

// newCompiler returns a GCC of a version such as "12.2.0". In "16.2.0 3", the second number is the
// version of the profile format that this GCC has reported to read.
func newCompiler(path, version string) (*Compiler, error) {
	version, reads, _ := strings.Cut(version, " ")
	c := &Compiler{Path: path, Version: version, major: majorOf(version), reads: 2}
	if c.major < firstMajor {
		return nil, fmt.Errorf("%s: %w", path, ErrNotGCC)
	}
	if c.major >= firstAsked {
		c.reads = 3
	}
	if n, err := strconv.ParseUint(reads, 10, 32); err == nil {
		c.reads = uint32(n)
	}
	if c.reads != 2 && c.reads != 3 {
		return nil, fmt.Errorf("%s: %w: it reads version %d of profiles", path, ErrNotGCC, c.reads)
	}
	return c, nil
}

// askVersion runs a compiler and returns its version, which follows the text "clang version " for
// clang. The result is empty if the program is neither GCC nor clang.
func askVersion(ctx context.Context, o *Observer) (string, error) {
	// Others take the options of GCC, and some even claim to be an old version of it.
	about, err := o.ask(ctx, "--version")
	if err != nil {
		return "", err
	}
	if at := bytes.Index(about, []byte(clangVersion)); at >= 0 {
		word, _, _ := strings.Cut(string(about[at+len(clangVersion):]), " ")
		word, _, _ = strings.Cut(word, "\n")
		return clangVersion + word, nil
	}
	if !bytes.Contains(about, []byte("Free Software Foundation")) {
		return "", nil
	}
	out, err := o.ask(ctx, "-dumpfullversion", "-dumpversion")
	if err != nil {
		return "", err
	}
	version := string(bytes.TrimSpace(out))
	if majorOf(version) < firstAsked {
		return version, nil
	}
	reads, err := o.ask(ctx, "--print-autofdo-gcov-version")
	return strings.TrimSpace(version + " " + string(bytes.TrimSpace(reads))), err
}

// IsSince reports whether the compiler is clang of the given major version or a later one.
func (c *Compiler) IsSince(version int) bool { return c.Clang && c.major >= version }

// majorOf returns the major version, such as 12 of "12.2.0". It returns 0 if the text is no
// version.
func majorOf(version string) int {
	first, _, _ := strings.Cut(version, ".")
	major, _ := strconv.Atoi(first)
	return major
}
