package driver

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A naming is a compile that refers to a file, by #include, by an option or in another way. The
// function that the compile defines depends on the content of the file, or on whether the file
// exists.
type naming struct {
	name   string
	files  map[string]string // "V" in a text is replaced by a number
	args   string            // of the compiler; CC is its path
	env    string            // a setting
	file   string            // the file
	before []string          // where a file would come before it, or would decide that another is read
	only   string            // the compiler that knows it, "gcc" or "clang"
	run    string            // a program that runs instead of the compiler

	uncached bool // the cache cannot keep anything of the compile
}

// text is the content of the included file in one version. It defines a function whose name
// contains V, the version.
const text = "static inline int vV(int x) { return x + V; }\n#define USE vV\n"

// use returns a source that includes a file.
func use(include string) string { return include + "\nint f0(int x) { return USE(x); }\n" }

// asks returns a source that tests for a header with a preprocessor condition. It defines one of
// two functions, depending on the result.
func asks(condition string) string {
	return condition + "\nint v1(int x) { return x; }\n#else\nint v2(int x) { return x; }\n#endif\nint f0(int x) { return x; }\n"
}

var namings = []naming{
	{name: "quote", files: map[string]string{"a.c": use(`#include "h.h"`), "i2/h.h": text, "i1/o.h": ""}, args: "-Ii1 -Ii2", file: "i2/h.h", before: []string{"h.h", "i1/h.h"}},
	{name: "angle", files: map[string]string{"a.c": use(`#include <h.h>`), "i2/h.h": text, "i1/o.h": ""}, args: "-Ii1 -Inone -I i2", file: "i2/h.h", before: []string{"i1/h.h", "none/h.h"}},
	{name: "iquote", files: map[string]string{"s/a.c": use(`#include "h.h"`), "i2/h.h": text}, args: "-iquote i1 -iquote i2 s/a.c", file: "i2/h.h", before: []string{"s/h.h", "i1/h.h"}},
	{name: "isystem", files: map[string]string{"a.c": use(`#include <h.h>`), "i2/h.h": text}, args: "-isystem i1 -isystem i2", file: "i2/h.h", before: []string{"i1/h.h"}},
	{name: "system quote", files: map[string]string{"a.c": use(`#include <o.h>`), "i2/o.h": `#include "h.h"`, "i3/h.h": text}, args: "-isystem i1 -isystem i2 -isystem i3", file: "i3/h.h", before: []string{"i2/h.h", "i1/h.h"}},
	{name: "idirafter", files: map[string]string{"a.c": use(`#include <h.h>`), "i2/h.h": text}, args: "-idirafter i1 -idirafter i2", file: "i2/h.h", before: []string{"i1/h.h"}},
	{name: "include", files: map[string]string{"a.c": use(``), "i/h.h": text}, args: "-Ii -include h.h", file: "i/h.h", before: []string{"h.h"}},
	{name: "include below", files: map[string]string{"s/a.c": use(``), "i/h.h": text}, args: "-Ij -Ii -include h.h s/a.c", file: "i/h.h", before: []string{"h.h", "j/h.h"}},
	{name: "imacros", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "i/h.h": "#define USE vV\n"}, args: "-Ij -Ii -imacros h.h", file: "i/h.h", before: []string{"h.h", "j/h.h"}},
	{name: "next", files: map[string]string{"a.c": use(`#include <h.h>`), "i1/h.h": "#include_next <h.h>\n", "i3/h.h": text}, args: "-Ii1 -Ii2 -Ii3", file: "i3/h.h", before: []string{"i2/h.h"}},
	{name: "macro", files: map[string]string{"a.c": use("#define H <h.h>\n#include H"), "i2/h.h": text}, args: "-Ii1 -Ii2", file: "i2/h.h", before: []string{"i1/h.h"}},
	{name: "nested", files: map[string]string{"a.c": use(`#include "sub/o.h"`), "i2/sub/o.h": `#include "h.h"`, "i2/sub/h.h": text, "i1/o.h": ""}, args: "-Ii1 -Ii2", file: "i2/sub/h.h", before: []string{"i1/sub/o.h"}},
	{name: "subfolder", files: map[string]string{"a.c": use(`#include "sub/h.h"`), "i2/sub/h.h": text}, args: "-Ii1 -Ii2", file: "i2/sub/h.h", before: []string{"sub/h.h", "i1/sub/h.h"}},
	{name: "up", files: map[string]string{"s/a.c": use(`#include "../h.h"`), "h.h": text, "i/o.h": ""}, args: "-Ii s/a.c", file: "h.h"},
	{name: "sysroot", files: map[string]string{"a.c": use(`#include <h.h>`), "sr/usr/include/h.h": text}, args: "--sysroot=sr -isystem =/usr/include", file: "sr/usr/include/h.h", before: []string{"sr/usr/local/include/h.h"}},
	{name: "prefix", files: map[string]string{"a.c": use(`#include <h.h>`), "p/i/h.h": text}, args: "-iprefix p/ -iwithprefixbefore j -iwithprefix i", file: "p/i/h.h", before: []string{"p/j/h.h"}},
	{name: "CPATH", files: map[string]string{"a.c": use(`#include <h.h>`), "i2/h.h": text}, env: "CPATH=i1:i2", file: "i2/h.h", before: []string{"i1/h.h"}},
	{name: "response file", files: map[string]string{"a.c": use(`#include <h.h>`), "args": "-Ii1 -Ii2", "i2/h.h": text}, args: "@args", file: "i2/h.h", before: []string{"i1/h.h"}},
	{name: "options", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "args": "-DUSE=vV"}, args: "@args", file: "args"},
	{name: "twice", files: map[string]string{"a.c": use(`#include <h.h>`), "s/h.h": text, "i/o.h": ""}, args: "-Ii -isystem s -Is/../s", file: "s/h.h", before: []string{"i/h.h"}},
	{name: "if", files: map[string]string{"a.c": asks(`#if __has_include("h.h")`), "i/o.h": ""}, args: "-Ii", before: []string{"h.h", "i/h.h"}},
	{name: "elif", files: map[string]string{"a.c": asks("#if 0\n#elif __has_include(<h.h>)"), "i/o.h": ""}, args: "-Ii", before: []string{"i/h.h"}},
	{name: "after comment", files: map[string]string{"a.c": asks("/* of\nlines */ #if /* of\nlines */ __has_include(<h.h>)"), "i/o.h": ""}, args: "-Ii", before: []string{"i/h.h"}},
	{name: "backslash", files: map[string]string{"a.c": asks("#if __has_\\\ninclude(<h.h>)"), "i/o.h": ""}, args: "-Ii", before: []string{"i/h.h"}},
	{name: "digraph", files: map[string]string{"a.c": asks("%:if __has_include(<h.h>)"), "i/o.h": ""}, args: "-Ii", before: []string{"i/h.h"}},
	{name: "trigraph", files: map[string]string{"a.c": asks("??=if __has_include(<h.h>)"), "i/o.h": ""}, args: "-Ii -trigraphs", before: []string{"i/h.h"}},
	{name: "hidden", files: map[string]string{"a.c": asks("#define HAS(...) __has_include(__VA_ARGS__)\n#define H <h.h>\n#if HAS(H)"), "i/o.h": ""}, args: "-Ii", before: []string{"i/h.h"}},
	{name: "command macro", files: map[string]string{"a.c": asks("#if HAS"), "i/o.h": ""}, args: "-Ii -DHAS=__has_include(<h.h>)", before: []string{"i/h.h"}},
	{name: "has next", files: map[string]string{"a.c": use(`#include "o.h"`), "i1/o.h": "#if __has_include_next(<h.h>)\n#define USE v1\n#else\n#define USE v2\n#endif\nint USE(int x) { return x; }\n", "i2/x.h": ""}, args: "-Ii1 -Ii2", before: []string{"i2/h.h"}},
	{name: "embed", files: map[string]string{"a.c": asks("#ifndef __has_embed\n#define __has_embed(x) 0\n#endif\n#if __has_embed(\"h.h\")")}, before: []string{"h.h"}},
	{name: "program", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "cc": "#!/bin/sh\nexec CC -DUSE=vV \"$@\"\n"}, run: "./cc", file: "cc"},
	{name: "program by file", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "cc": "#!/bin/sh\nexec CC $(cat flags) \"$@\"\n", "flags": "-DUSE=vV"}, run: "./cc", file: "flags"},
	{name: "program in folder", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "cc": "#!/bin/sh\nf=b/flags; [ -f a/flags ] && f=a/flags\nread -r flags <$f\nexec CC $flags \"$@\"\n", "b/flags": "-DUSE=vV\n"}, run: "./cc", file: "b/flags", before: []string{"a/flags"}},
	{name: "specs", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "my.specs": "%rename cpp_options old\n\n*cpp_options:\n-DUSE=vV %(old)\n"}, args: "-specs=my.specs", file: "my.specs", only: "gcc"},
	{name: "overlay", files: map[string]string{"a.c": use(`#include "h.h"`), "v1.h": strings.ReplaceAll(text, "V", "1"), "v2.h": strings.ReplaceAll(text, "V", "2"), "v3.h": strings.ReplaceAll(text, "V", "3"), "o.yaml": `{"version": 0, "roots": [{"type": "directory", "name": "DIR/i", "contents": [{"type": "file", "name": "h.h", "external-contents": "DIR/vV.h"}]}]}`}, args: "-Ii -ivfsoverlay o.yaml", file: "o.yaml", before: []string{"h.h"}, only: "clang"},
	{name: "config", files: map[string]string{"a.c": "int USE(int x) { return x; }\nint f0(void) { return 0; }\n", "c/my.cfg": "@sub.cfg\n", "c/sub.cfg": "-DUSE=vV\n"}, args: "--config=c/my.cfg", file: "c/sub.cfg", only: "clang"},
	{name: "config folder", files: map[string]string{"a.c": "#ifndef USE\n#define USE v0\n#endif\nint USE(int x) { return x; }\nint f0(void) { return 0; }\n", "c/o": ""}, args: "--config-user-dir=c", before: []string{"c/clang.cfg", "c/x86_64-pc-linux-gnu.cfg"}, only: "clang"},
	{name: "headers of a folder of programs", files: map[string]string{"a.c": use(`#include <h.h>`), "b/o": "", "i/h.h": text}, args: "-Bb -idirafter i", file: "i/h.h", before: []string{"b/include/h.h"}},
}

// An event is a change of a file, such as a new content, or the creation of a missing one.
type event struct {
	name string
	do   func(c *change, path string)
	to   string // "file" or "before"
}

var events = []event{
	{"edited", func(c *change, path string) { c.write(path, c.text(2)) }, "file"},
	{"replaced, with its time and size", func(c *change, path string) {
		info, err := os.Stat(c.path(path))
		require.NoError(c, err)
		c.write("new", c.text(2))
		require.NoError(c, os.Chtimes(c.path("new"), info.ModTime(), info.ModTime()))
		require.NoError(c, os.Rename(c.path("new"), c.path(path)))
	}, "file"},
	{"touched", func(c *change, path string) {
		require.NoError(c, os.Chtimes(c.path(path), time.Now(), time.Now()))
	}, "file"},
	{"a link to another", func(c *change, path string) {
		c.write("other/x", c.text(2))
		require.NoError(c, os.Remove(c.path(path)))
		require.NoError(c, os.Symlink(c.path("other/x"), c.path(path)))
	}, "file"},
	{"its folder is another", func(c *change, path string) {
		if folder := filepath.Dir(path); folder != "." {
			require.NoError(c, os.CopyFS(c.path("copy"), os.DirFS(c.path(folder))))
			c.write(filepath.Join("copy", filepath.Base(path)), c.text(2))
			require.NoError(c, os.Rename(c.path(folder), c.path("old")))
			require.NoError(c, os.Rename(c.path("copy"), c.path(folder)))
		}
	}, "file"},
	{"its folder is a link to another", func(c *change, path string) {
		if folder := filepath.Dir(path); folder != "." {
			require.NoError(c, os.CopyFS(c.path("copy"), os.DirFS(c.path(folder))))
			c.write(filepath.Join("copy", filepath.Base(path)), c.text(2))
			require.NoError(c, os.Rename(c.path(folder), c.path("old")))
			require.NoError(c, os.Symlink(c.path("copy"), c.path(folder)))
		}
	}, "file"},
	{"a file comes", func(c *change, path string) { c.write(path, c.text(3)) }, "before"},
	{"a file comes by rename", func(c *change, path string) {
		c.write("new", c.text(3))
		require.NoError(c, os.MkdirAll(filepath.Dir(c.path(path)), 0o777))
		require.NoError(c, os.Rename(c.path("new"), c.path(path)))
	}, "before"},
	{"a link comes", func(c *change, path string) {
		c.write("other/x", c.text(3))
		require.NoError(c, os.MkdirAll(filepath.Dir(c.path(path)), 0o777))
		require.NoError(c, os.Symlink(c.path("other/x"), c.path(path)))
	}, "before"},
	{"a folder was there", func(c *change, path string) {
		require.NoError(c, os.Remove(c.path(path)))
		c.write(path, c.text(3))
	}, "before"},
	{"a link to nothing was there", func(c *change, path string) { c.write("later/x", c.text(3)) }, "before"},
	{"its folder was a link to nothing", func(c *change, path string) { c.write(filepath.Join("later", filepath.Base(path)), c.text(3)) }, "before"},
	{"its folder was a link", func(c *change, path string) {
		folder := filepath.Dir(path)
		c.write(filepath.Join("other", filepath.Base(path)), c.text(3))
		require.NoError(c, os.Remove(c.path(folder)))
		require.NoError(c, os.Symlink("other", c.path(folder)))
	}, "before"},
	{"its folder was a file", func(c *change, path string) {
		require.NoError(c, os.Remove(c.path(filepath.Dir(path))))
		c.write(path, c.text(3))
	}, "before"},
}

// prepare creates the files and links that must exist before an event. It returns false if the
// event is impossible for that path.
func (e *event) prepare(c *change, path string) bool {
	folder := c.path(filepath.Dir(path))
	_, err := os.Lstat(folder)
	switch e.name {
	case "a folder was there":
		require.NoError(c, os.MkdirAll(c.path(path), 0o777))
	case "a link to nothing was there":
		require.NoError(c, os.MkdirAll(folder, 0o777))
		require.NoError(c, os.Symlink(c.path("later/x"), c.path(path)))
	case "its folder was a link to nothing", "its folder was a link", "its folder was a file":
		if err == nil {
			return false
		}
		require.NoError(c, os.MkdirAll(filepath.Dir(folder), 0o777))
		switch e.name {
		case "its folder was a file":
			c.write(filepath.Dir(path), "")
		case "its folder was a link":
			require.NoError(c, os.MkdirAll(c.path("first"), 0o777))
			require.NoError(c, os.Symlink(c.path("first"), folder))
		default:
			require.NoError(c, os.Symlink(c.path("later"), folder))
		}
	}
	return true
}

// A change is one test: an event that happens between two runs of the same compile.
type change struct {
	*testing.T
	naming
	dir, compiler, cache string
	profile              string
}

func (c *change) path(name string) string { return filepath.Join(c.dir, name) }

// text returns the content of the included file in a version.
func (c *change) text(version int) string {
	text := c.files[c.file]
	switch {
	case c.name == "config folder":
		text = "-DUSE=vV\n"
	case c.name == "nested" && version == 3:
		text = "static inline int vV(int x) { return x; }\n#define USE vV\n"
	case c.file == "o.yaml" && version == 3:
		text = "static inline int vV(int x) { return x; }\n#define USE vV\n"
	}
	return c.replaced(text, version)
}

func (c *change) replaced(text string, version int) string {
	return strings.NewReplacer("CC ", c.compiler+" ", "DIR", c.dir, "vV", fmt.Sprintf("v%d", version), "V;", fmt.Sprintf("%d;", version)).Replace(text)
}

func (c *change) write(name, text string) {
	require.NoError(c, os.MkdirAll(filepath.Dir(c.path(name)), 0o777))
	require.NoError(c, os.WriteFile(c.path(name), []byte(text), 0o777))
}

// slice prepares a compile with a cache. It returns the slice, and whether the preprocessor ran. If
// repeated is true, it runs the command that the cache has stored for the compile, as afdo-exec
// does.
func (c *change) slice(cache string, repeated bool) (slice string, ran bool) {
	c.Helper()
	c.Setenv("AFDO_CACHE_DIR", cache)
	program := c.compiler
	if c.run != "" {
		program = c.run
		if strings.Contains(filepath.Base(c.compiler), "clang") {
			program = "./clang"
			_ = os.Symlink("cc", c.path("clang"))
		}
	}
	argv := append([]string{program, "-O2", "-c", "-o", "out.o"}, strings.Fields(c.args)...)
	if !strings.Contains(c.args, "a.c") {
		argv = append(argv, "a.c")
	}
	key := planned.Key(nil, argv, c.dir)
	if repeated {
		if plan := planned.Find(key, argv, c.dir); plan != nil {
			data, err := os.ReadFile(c.path("out.o.afdo"))
			require.NoError(c, err)
			return fmt.Sprintf("%s\n%q", plan.Argv, data), false
		}
	}
	opened, err := OpenCache()
	require.NoError(c, err)
	l := Launcher{Profile: c.profile, Cache: opened, Trace: func(text string) { ran = ran || strings.Contains(text, "the compiler's -E") }}
	plan, err := l.Prepare(c.Context(), argv, c.dir)
	require.NoError(c, err)
	plan.Keep(key)
	if plan.Slice == "" {
		return fmt.Sprint(plan.Argv), ran
	}
	data, err := os.ReadFile(filepath.Join(c.dir, plan.Slice))
	if filepath.IsAbs(plan.Slice) {
		data, err = os.ReadFile(plan.Slice)
	}
	require.NoError(c, err)
	return strings.ReplaceAll(fmt.Sprintf("%s\n%q", plan.Argv, data), cache, "CACHE"), ran
}

// versionsProfile writes a profile with the functions of all versions of the included file.
func versionsProfile(t *testing.T) string {
	p := profile.New()
	for i := range 10 {
		var body profile.Body
		body.Count(1, 0, uint64(i+1))
		p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), fmt.Sprintf("v%d", i)), profile.Function{HeadCount: 5, Records: body.Records()})
	}
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f0"), profile.Function{HeadCount: 5})
	p.Summary = p.Summarize()
	path := filepath.Join(t.TempDir(), "profile.v4")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, builder.Write(f, p, builder.Options{Index: &index.Options{Unqualified: slice.Names}}))
	return path
}

// TestChanges makes a slice before and after each event, once with a cache from before the event
// and once with an empty cache. Both slices after the event must be equal.
func TestChanges(t *testing.T) {
	path := versionsProfile(t)
	for _, name := range []string{"gcc-12", "gcc-16", "clang-22"} {
		compiler, ok := testenv.Find(name)
		if !ok {
			testenv.Missing(t, "%s is not installed", name)
			continue
		}
		tried, differ, situations := 0, 0, 0
		every := testenv.Rounds(1, 4, 1) // one of four takes CI three minutes
		for _, n := range namings {
			for _, e := range events {
				places := n.before
				if e.to == "file" {
					places = []string{n.file}
				}
				for _, place := range places {
					short := e.name == "a file comes" && n.name == "include"
					if place == "" || n.only != "" && !strings.HasPrefix(name, n.only) || !testenv.Sweep() && !short {
						continue
					}
					if situations++; !short && situations%every != 0 {
						continue
					}
					t.Run(strings.Join([]string{name, n.name, e.name, place}, "/"), func(t *testing.T) {
						c := &change{T: t, naming: n, dir: t.TempDir(), cache: t.TempDir(), compiler: compiler, profile: path}
						if c.happens(&e, place) {
							differ++
						}
						tried++
					})
				}
			}
		}
		t.Logf("%s: %d situations, of which %d change the slice", name, tried, differ)
	}
}

// happens lets an event happen to the file at a place, and compares the slices as [change.compare]
// does. It reports whether the slice changed.
func (c *change) happens(e *event, place string) bool {
	if key, value, ok := strings.Cut(c.env, "="); ok {
		c.Setenv(key, value)
	}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		c.write(name, c.replaced(c.files[name], 1))
	}
	if !e.prepare(c, place) {
		c.Skip("the folder is there")
	}
	return c.compare(func() { e.do(c, place) })
}

// compare makes a slice before and after an event. It does so with a cache from before the event
// and with an empty cache, and fails the test if the two slices after the event differ. It reports
// whether the event changed the slice.
func (c *change) compare(happens func()) bool {
	c.Helper()
	testenv.Settle()
	before, _ := c.slice(c.cache, false)
	again, ran := c.slice(c.cache, true)
	require.Equal(c, before, again)
	require.Equal(c, c.uncached, ran, "the preprocessor ran again")
	happens()
	testenv.Settle()
	warm, _ := c.slice(c.cache, true)
	_ = os.Remove(c.path("out.o.afdo")) // it has none with the whole profile
	cold, _ := c.slice(c.TempDir(), false)
	assert.Equal(c, cold, warm)
	return cold != before
}

// useMacro is a source that defines the function that the macro USE names.
const useMacro = "#ifndef USE\n#define USE v9\n#endif\nint USE(int x) { return x; }\nint f0(void) { return 0; }\n"

// twoHeaders are the files of a compile that includes p/h.h and q/h.h, which have the same content.
// What the compile defines depends on whether the compiler takes them for one file.
var twoHeaders = map[string]string{
	"a.c": "#include \"p/h.h\"\n#include \"q/h.h\"\n" + useMacro, "p/h.h": "#pragma once\n#include \"x.h\"\n",
	"p/x.h": "#define USE v1\n", "q/x.h": "#undef USE\n#define USE v2\n",
}

// TestOtherChanges is [TestChanges] for events that happen to the compiler and to its environment.
func TestOtherChanges(t *testing.T) {
	path := versionsProfile(t)
	other := map[string]string{"gcc-12": "gcc-16", "gcc-16": "gcc-12", "clang-22": "clang-19"}
	for _, name := range []string{"gcc-12", "gcc-16", "clang-22"} {
		compiler, ok := testenv.Find(name)
		if !ok {
			testenv.Missing(t, "%s is not installed", name)
			continue
		}
		kind, _, _ := strings.Cut(name, "-")
		program := "./" + kind
		link := func(c *change, to, name string) {
			_ = os.Remove(c.path(name))
			require.NoError(c, os.MkdirAll(filepath.Dir(c.path(name)), 0o777))
			require.NoError(c, os.Symlink(to, c.path(name)))
		}
		for _, o := range []struct {
			naming
			prepare, happens func(c *change)
			short            bool
		}{
			{naming: naming{name: "script with a variable", run: program},
				prepare: func(c *change) { c.write(kind, "#!/bin/sh\nexec "+compiler+" $EXTRA \"$@\"\n") }, happens: func(c *change) { c.Setenv("EXTRA", "-DUSE=v2") }},
			{naming: naming{name: "variable of a wrapper like Nix's", run: program},
				prepare: func(c *change) {
					c.Setenv("NIX_CFLAGS_COMPILE", "-DUSE=v1")
					c.write(kind, "#!/bin/bash\nextra=($NIX_CFLAGS_COMPILE)\nexec "+compiler+" \"${extra[@]}\" \"$@\"\n")
				}, happens: func(c *change) { c.Setenv("NIX_CFLAGS_COMPILE", "-DUSE=v2") }},
			{naming: naming{name: "another compiler by a variable", run: "./mpicc", only: "gcc"}, short: name == "gcc-12",
				prepare: func(c *change) {
					c.Setenv("OMPI_CC", compiler)
					c.write("mpicc", "#!/bin/sh\nexec ${OMPI_CC} \"$@\"\n")
				}, happens: func(c *change) { c.Setenv("OMPI_CC", testenv.Optional(c, other[name])) }},
			{naming: naming{name: "another compiler in $PATH", run: "./mpicc", only: "gcc"},
				prepare: func(c *change) {
					link(c, compiler, "bin/realcc")
					c.write("mpicc", "#!/bin/sh\nexec realcc \"$@\"\n")
					c.write("first/o", "")
					c.Setenv("PATH", c.path("first")+":"+c.path("bin")+":"+os.Getenv("PATH"))
				}, happens: func(c *change) { link(c, testenv.Optional(c, other[name]), "first/realcc") }},
			{naming: naming{name: "another compiler by env and $PATH", run: "./mpicc", only: "gcc"},
				prepare: func(c *change) {
					link(c, compiler, "bin/realcc")
					c.write("mpicc", "#!/bin/sh\nexec env realcc \"$@\"\n")
					c.write("first/o", "")
					c.Setenv("PATH", c.path("first")+":"+c.path("bin")+":"+os.Getenv("PATH"))
				}, happens: func(c *change) { link(c, testenv.Optional(c, other[name]), "first/realcc") }},
			{naming: naming{name: "link to another compiler", run: program},
				prepare: func(c *change) { link(c, compiler, kind) }, happens: func(c *change) { link(c, testenv.Optional(c, other[name]), kind) }},
			{naming: naming{name: "script that reads a link", run: program},
				prepare: func(c *change) {
					link(c, "v1", "which")
					c.write(kind, "#!/bin/sh\nexec "+compiler+" -DUSE=$(readlink which) \"$@\"\n")
				}, happens: func(c *change) { link(c, "v2", "which") }},
			{naming: naming{name: "script that lists a folder", run: program},
				prepare: func(c *change) {
					c.write("d/v1", "")
					c.write(kind, "#!/bin/sh\nexec "+compiler+" -DUSE=$(ls -U d | sort | tail -n 1) \"$@\"\n")
				}, happens: func(c *change) { c.write("d/v2", "") }},
			{naming: naming{name: "script that looks whether it may run a hook", run: program},
				prepare: func(c *change) {
					c.write("hook", "")
					require.NoError(c, os.Chmod(c.path("hook"), 0o644))
					c.write(kind, "#!/bin/sh\n[ -x hook ] && set -- -DUSE=v2 \"$@\"\nexec "+compiler+" \"$@\"\n")
				}, happens: func(c *change) { require.NoError(c, os.Chmod(c.path("hook"), 0o755)) }},
			{naming: naming{name: "script that compares times", run: program},
				prepare: func(c *change) {
					c.write("a", "")
					c.write("b", "")
					require.NoError(c, os.Chtimes(c.path("b"), time.Unix(1, 0), time.Unix(1, 0)))
					c.write(kind, "#!/bin/sh\n[ b -nt a ] && set -- -DUSE=v2 \"$@\"\nexec "+compiler+" \"$@\"\n")
				}, happens: func(c *change) { require.NoError(c, os.Chtimes(c.path("b"), time.Now(), time.Now())) }},
			{naming: naming{name: "script that runs a program that is not there", run: program}, short: name == "gcc-12",
				prepare: func(c *change) { c.write(kind, "#!/bin/sh\nexec "+compiler+" $(./flags 2>&-) \"$@\"\n") },
				happens: func(c *change) { c.write("flags", "#!/bin/sh\necho -DUSE=v2\n") }},
			{naming: naming{name: "script that has a program run by env", run: program},
				prepare: func(c *change) {
					c.write(kind, "#!/bin/sh\nexec "+compiler+" $(env flags 2>&-) \"$@\"\n")
					c.write("bin/o", "")
					c.Setenv("PATH", c.path("bin")+":"+os.Getenv("PATH"))
				}, happens: func(c *change) { c.write("bin/flags", "#!/bin/sh\necho -DUSE=v2\n") }},
			{naming: naming{name: "script whose interpreter is a link", run: program},
				prepare: func(c *change) {
					c.write("sh", "#!/bin/sh\nexec /bin/sh \"$@\"\n")
					c.write("other", "#!/bin/sh\necho -DUSE=v2\n")
					link(c, "/bin/sh", "interpreter")
					c.write("flags", "#!"+c.path("interpreter")+"\necho -DUSE=v1\n")
					c.write(kind, "#!/bin/sh\nexec "+compiler+" $(./flags) \"$@\"\n")
				}, happens: func(c *change) { link(c, "other", "interpreter") }},
			{naming: naming{name: "header in memory", files: map[string]string{"a.c": use("#include <h.h>"), "i/h.h": text}},
				prepare: func(c *change) {
					memory, err := os.MkdirTemp("/dev/shm", "afdo")
					if err != nil {
						c.Skip("no /dev/shm")
					}
					c.Cleanup(func() { _ = os.RemoveAll(memory) })
					c.args = "-I" + memory + " -Ii"
					link(c, memory, "memory")
				}, happens: func(c *change) { c.write("memory/h.h", c.replaced(text, 2)) }},
			{naming: naming{name: "cc1 that may be run", args: "-Bb/", only: "gcc"},
				prepare: func(c *change) {
					cc1, err := exec.Command(compiler, "-print-prog-name=cc1").Output()
					require.NoError(c, err)
					c.write("b/cc1", "#!/bin/sh\nexec "+strings.TrimSpace(string(cc1))+" \"$@\" -DUSE=v2\n")
					require.NoError(c, os.Chmod(c.path("b/cc1"), 0o644))
				}, happens: func(c *change) { require.NoError(c, os.Chmod(c.path("b/cc1"), 0o755)) }},
			{naming: naming{name: "a link of a duplicate folder", args: "-Ib -isystem s", files: map[string]string{"a.c": use("#include <h.h>")}},
				prepare: func(c *change) {
					c.write("s/h.h", c.replaced(text, 1))
					c.write("t/h.h", c.replaced(text, 1))
					c.write("t/other.h", "")
					link(c, "s", "b")
				}, happens: func(c *change) {
					c.write("t/h.h", c.replaced(text, 2))
					link(c, "t", "b")
				}},
			{naming: naming{name: "a link of a duplicate folder before another", args: "-Ib -It -isystem s", files: map[string]string{"a.c": use("#include <h.h>")}},
				prepare: func(c *change) {
					c.write("s/h.h", c.replaced(text, 1))
					c.write("t/h.h", c.replaced(text, 2))
					c.write("u/other.h", "")
					link(c, "u", "b")
				}, happens: func(c *change) { link(c, "s", "b") }},
			{naming: naming{name: "hard link of a header becomes a copy", files: twoHeaders}, short: name == "gcc-12",
				prepare: func(c *change) { require.NoError(c, os.Link(c.path("p/h.h"), c.path("q/h.h"))) }, happens: func(c *change) {
					require.NoError(c, os.Remove(c.path("q/h.h")))
					c.write("q/h.h", twoHeaders["p/h.h"])
				}},
			{naming: naming{name: "copy of a header becomes a hard link", files: twoHeaders},
				prepare: func(c *change) {
					c.write("q/h.h", twoHeaders["p/h.h"])
					require.NoError(c, os.Chtimes(c.path("q/h.h"), time.Unix(1, 0), time.Unix(1, 0)))
				}, happens: func(c *change) {
					require.NoError(c, os.Remove(c.path("q/h.h")))
					require.NoError(c, os.Link(c.path("p/h.h"), c.path("q/h.h")))
				}},
			{naming: naming{name: "copy of a header gets its time", files: twoHeaders},
				prepare: func(c *change) {
					c.write("q/h.h", twoHeaders["p/h.h"])
					require.NoError(c, os.Chtimes(c.path("q/h.h"), time.Unix(1, 0), time.Unix(1, 0)))
				}, happens: func(c *change) {
					require.NoError(c, os.Chtimes(c.path("p/h.h"), time.Unix(1, 0), time.Unix(1, 0)))
				}},
			{naming: naming{name: "script that opens for reading and writing", run: program},
				prepare: func(c *change) {
					c.write("flags", "-DUSE=v1\n")
					c.write(kind, "#!/bin/bash\nexec 3<>flags\nread -r flags <&3\nexec "+compiler+" $flags \"$@\"\n")
				}, happens: func(c *change) { c.write("flags", "-DUSE=v2\n") }},
			{naming: naming{name: "script that asks for the permissions of a folder", run: program},
				prepare: func(c *change) {
					require.NoError(c, os.Mkdir(c.path("d"), 0o755))
					c.write(kind, "#!/bin/sh\n[ -k d ] && set -- -DUSE=v2 \"$@\"\nexec "+compiler+" \"$@\"\n")
				}, happens: func(c *change) { require.NoError(c, os.Chmod(c.path("d"), 0o755|os.ModeSticky)) }},
			{naming: naming{name: "script that asks whether a folder is a link", run: program},
				prepare: func(c *change) {
					c.write("d/o", "")
					c.write(kind, "#!/bin/sh\n[ -L d ] && set -- -DUSE=v2 \"$@\"\nexec "+compiler+" \"$@\"\n")
				}, happens: func(c *change) {
					require.NoError(c, os.Rename(c.path("d"), c.path("e")))
					link(c, "e", "d")
				}},
			{naming: naming{name: "script with mounts of its own", run: program, uncached: true},
				prepare: func(c *change) {
					if exec.Command("unshare", "-m", "true").Run() != nil {
						c.Skip("no permission to mount")
					}
					c.write("i/flags", "")
					c.write("alt/flags", "-DUSE=v1\n")
					c.write(kind, "#!/bin/sh\nexec unshare -m sh -c 'mount --bind alt i && exec "+compiler+" $(cat i/flags) \"$@\"' sh \"$@\"\n")
				}, happens: func(c *change) { c.write("alt/flags", "-DUSE=v2\n") }},
			{naming: naming{name: "specs with a variable", args: "-specs=my.specs", only: "gcc"}, short: name == "gcc-12",
				prepare: func(c *change) {
					c.Setenv("NEW", "v1")
					c.write("a.c", "#ifdef v2\n#define USE v2\n#endif\n"+useMacro)
					c.write("my.specs", "%rename cpp_unique_options old\n\n*cpp_unique_options:\n-D%:getenv(NEW =v2) %(old)\n")
				}, happens: func(c *change) { c.Setenv("NEW", "v2") }},
			{naming: naming{name: "specs with a variable in a folder of programs", args: "-Bb/", only: "gcc"},
				prepare: func(c *change) {
					c.Setenv("NEW", "v1")
					c.write("a.c", "#ifdef v2\n#define USE v2\n#endif\n"+useMacro)
					c.write("b/specs", "*cpp_unique_options:\n+ -D%:getenv(NEW =v2)\n")
				}, happens: func(c *change) { c.Setenv("NEW", "v2") }},
			{naming: naming{name: "variable with options", only: "clang"},
				prepare: func(c *change) {}, happens: func(c *change) { c.Setenv("CCC_OVERRIDE_OPTIONS", "+-DUSE=v2") }},
			{naming: naming{name: "no configuration", run: program, only: "clang"},
				prepare: func(c *change) {
					c.write("clang.cfg", "-DUSE=v1\n")
					link(c, compiler, "clang")
				}, happens: func(c *change) { c.Setenv("CLANG_NO_DEFAULT_CONFIG", "1") }},
			{naming: naming{name: "variable with folders", args: "-Ii", files: map[string]string{"a.c": use("#include <h.h>")}},
				prepare: func(c *change) {
					c.write("i/h.h", c.replaced(text, 1))
					c.write("j/h.h", c.replaced(text, 2))
					c.write("i/o.h", "")
				}, happens: func(c *change) {
					c.Setenv("CPATH", "j")
					require.NoError(c, os.Remove(c.path("i/h.h")))
				}},
			{naming: naming{name: "specs in a folder of programs", args: "-Bb/", only: "gcc"},
				prepare: func(c *change) { c.write("b/o", "") }, happens: func(c *change) { c.write("b/specs", "%rename cpp_options old\n\n*cpp_options:\n-DUSE=v2 %(old)\n") }},
			{naming: naming{name: "cc1 in a folder of programs", args: "-Bb/", only: "gcc"},
				prepare: func(c *change) { c.write("b/o", "") }, happens: func(c *change) {
					cc1, err := exec.Command(compiler, "-print-prog-name=cc1").Output()
					require.NoError(c, err)
					c.write("b/cc1", "#!/bin/sh\nexec "+strings.TrimSpace(string(cc1))+" \"$@\" -DUSE=v2\n")
				}},
			{naming: naming{name: "precompiled header that comes, of an old header", only: "gcc", files: map[string]string{"a.c": "#include \"h.h\"\nint f0(int x) { return USE(x); }\n"}},
				prepare: func(c *change) { c.write("h.h", c.replaced(text, 2)) }, happens: func(c *change) {
					c.write("h.h", c.replaced(text, 1))
					c.precompile()
					testenv.Settle()
					c.write("h.h", c.replaced(text, 2))
				}},
			{naming: naming{name: "header of a precompiled header", only: "gcc", files: map[string]string{"a.c": "#include \"h.h\"\nint f0(int x) { return USE(x); }\n"}},
				prepare: func(c *change) {
					c.write("h.h", c.replaced(text, 1))
					testenv.Settle()
					c.precompile()
				}, happens: func(c *change) { c.write("h.h", c.replaced(text, 2)) }},
			{naming: naming{name: "a folder of precompiled headers comes", only: "gcc", files: map[string]string{"a.c": "#include \"h.h\"\nint f0(int x) { return USE(x); }\n"}},
				prepare: func(c *change) { c.write("h.h", c.replaced(text, 2)) }, happens: func(c *change) {
					c.write("h.h", c.replaced(text, 1))
					c.precompile()
					require.NoError(c, os.Rename(c.path("h.h.gch"), c.path("x.gch")))
					require.NoError(c, os.Mkdir(c.path("h.h.gch"), 0o777))
					require.NoError(c, os.Rename(c.path("x.gch"), c.path("h.h.gch/x.gch")))
					testenv.Settle()
					c.write("h.h", c.replaced(text, 2))
				}},
			{naming: naming{name: "precompiled header of -include comes", args: "-include h.h", files: map[string]string{"a.c": "int f0(int x) { return USE(x); }\n"}},
				prepare: func(c *change) { c.write("h.h", c.replaced(text, 2)) }, happens: func(c *change) { c.precompile() }},
		} {
			if o.only != "" && o.only != kind || !o.short && !testenv.Sweep() {
				continue
			}
			t.Run(name+"/"+o.name, func(t *testing.T) {
				c := &change{T: t, naming: o.naming, dir: t.TempDir(), cache: t.TempDir(), compiler: compiler, profile: path}
				if c.files == nil {
					c.write("a.c", useMacro)
				}
				for name, text := range c.files {
					c.write(name, text)
				}
				o.prepare(c)
				c.compare(func() { o.happens(c) })
			})
		}
	}
}

// precompile makes a precompiled header of h.h.
func (c *change) precompile() {
	cmd := exec.Command(c.compiler, "-O2", "-x", "c-header", "h.h", "-o", "h.h.gch")
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	require.NoError(c, err, "%s", out)
}
