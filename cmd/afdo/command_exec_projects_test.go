//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A project is a program that the test builds from the sources of a Debian package.
type project struct {
	folder    string            // folder of the unpacked package, as a pattern
	sources   string            // patterns of the source files to compile
	not       string            // patterns of source files to leave out
	together  bool              // for profiling, all sources of a folder are compiled as one, which takes less time
	defines   []string          // flags of every compile
	files     map[string]string // files to add, which the package lacks
	libraries []string
	arguments []string
	compiler  string
	others    []string // further compilers to make slices for, if they are installed
	moved     string   // a source that is moved to another folder after profiling
	to        string
	compiled  string // the sources that are compiled with slices
}

var projects = map[string]project{
	"lua": {
		folder: "lua5.4-*", sources: "src/*.c", not: "src/luac.c", defines: []string{"-Isrc", "-DLUA_USE_POSIX"},
		libraries: []string{"-lm"}, arguments: []string{"bench.lua"}, compiler: "gcc",
		files: map[string]string{"bench.lua": luaBench, "src/lua5.4-deb-multiarch.h": "#define DEB_HOST_MULTIARCH \"any\"\n"},
		moved: "src/lgc.c", to: "memory/lgc.c", compiled: "src/lvm.c src/ltable.c src/lstrlib.c src/lapi.c src/ldo.c src/llex.c src/lparser.c src/lstring.c memory/*.c",
	},
	"leveldb": {
		folder: "leveldb-*", sources: "db/*.cc table/*.cc util/*.cc helpers/memenv/memenv.cc main.cc",
		together: true, not: "*_test.cc db/leveldbutil.cc *_windows.cc *testutil.cc",
		defines: []string{"-I.", "-Iinclude", "-DLEVELDB_PLATFORM_POSIX=1", "-DLEVELDB_COMPILE_LIBRARY", "-Iport/generated"},
		files:   map[string]string{"main.cc": levelDBMain, "port/generated/port/port_config.h": portConfig}, libraries: []string{"-pthread"}, compiler: "g++", others: []string{"g++-16"},
		moved: "db/memtable.cc", to: "db/tables/memtable.cc",
		compiled: "main.cc db/tables/*.cc table/block.cc db/dbformat.cc table/merger.cc util/cache.cc",
	},
}

const levelDBMain = `#include <cstdio>
#include <string>
#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"

int main() {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 1 << 16;
  options.env = leveldb::NewMemEnv(leveldb::Env::Default());
  leveldb::DB* db;
  if (!leveldb::DB::Open(options, "/db", &db).ok()) return 1;
  unsigned random = 1;
  for (int i = 0; i < 4000; i++) {
    random = random * 1103515245 + 12345;
    std::string key = std::to_string(random % 2000), value;
    leveldb::WriteBatch batch;
    batch.Put(key, std::string(random % 200, 'v'));
    if (i % 7 == 0) batch.Delete(std::to_string(i));
    db->Write(leveldb::WriteOptions(), &batch);
    db->Get(leveldb::ReadOptions(), key, &value);
  }
  size_t bytes = 0;
  leveldb::Iterator* it = db->NewIterator(leveldb::ReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next()) bytes += it->value().size();
  delete it;
  delete db;
  printf("%zu\n", bytes);
}
`

const luaBench = `local t = {}
for i = 1, 3000 do t[i] = (i * 7919) % 3001 end
table.sort(t)
local s = {}
for i = 1, 400 do s[#s + 1] = string.format("%d:%s", i, ("x"):rep(i % 9)) end
local text = table.concat(s, ",")
local n = 0
for word in text:gmatch("%d+") do n = n + tonumber(word) end
local function fib(k) return k < 2 and k or fib(k - 1) + fib(k - 2) end
local point = setmetatable({}, {__index = function(_, k) return k end})
for i = 1, 1000 do n = n + point[i] end
local co = coroutine.wrap(function() for i = 1, 200 do coroutine.yield(i) end end)
for i = 1, 200 do n = n + co() end
print(fib(16), n, load("return 1 + 2 * 3")(), collectgarbage("count") > 0)
`

// portConfig is the configuration header that CMake would write.
const portConfig = "#define HAVE_FDATASYNC 1\n#define HAVE_FULLFSYNC 0\n#define HAVE_O_CLOEXEC 1\n#define HAVE_CRC32C 0\n#define HAVE_SNAPPY 0\n"

// sourcesOf returns the folder of a project's sources. AFDO_SOURCES is where Debian source packages
// have been unpacked, which .ci/run does.
func sourcesOf(t *testing.T, p *project) string {
	if os.Getenv("AFDO_SWEEP") == "" {
		t.Skip("AFDO_SWEEP is not set")
	}
	root := os.Getenv("AFDO_SOURCES")
	if root == "" {
		t.Skip("AFDO_SOURCES is not set: there are no source packages")
	}
	found, err := filepath.Glob(filepath.Join(root, p.folder))
	require.NoError(t, err)
	require.NotEmpty(t, found, "%s in %s", p.folder, root)
	return found[0]
}

// files returns the files of patterns, relative to the folder.
func (s *site) files(patterns, not string) (files []string) {
	for pattern := range strings.FieldsSeq(patterns) {
		found, err := filepath.Glob(s.path(pattern))
		require.NoError(s, err)
		for _, path := range found {
			name, err := filepath.Rel(s.dir, path)
			require.NoError(s, err)
			if !matchesAny(name, not) {
				files = append(files, name)
			}
		}
	}
	return files
}

func matchesAny(name, patterns string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		whole, _ := filepath.Match(pattern, name)
		base, _ := filepath.Match(pattern, filepath.Base(name))
		if whole || base {
			return true
		}
	}
	return false
}

// each calls do for each of the things, as many at the same time as there are processors.
func each(things []string, do func(thing string)) {
	queue := make(chan string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for thing := range queue {
				do(thing)
			}
		})
	}
	for _, thing := range things {
		queue <- thing
	}
	close(queue)
	workers.Wait()
}

// newProjectSite returns a site with the sources of a project.
func newProjectSite(t *testing.T, p *project, from string) *site {
	s := newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS(from)))
	for name, text := range p.files {
		s.write(name, text)
	}
	return s
}

// callgrindProfile builds a project, runs it under callgrind and returns the profile.
func callgrindProfile(t *testing.T, p *project, from string) *profile.Profile {
	s := newProjectSite(t, p, from)
	sources := s.files(p.sources, p.not)
	if p.together {
		sources = s.joined(sources)
	}
	each(sources, func(source string) {
		args := append([]string{p.compiler, "-O2", "-g", "-c", source, "-o", source + ".o"}, p.defines...)
		out, err := s.command(args...).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	})
	if t.Failed() {
		t.FailNow()
	}
	link := []string{p.compiler, "-o", "program"}
	for _, source := range sources {
		link = append(link, source+".o")
	}
	s.run(append(link, p.libraries...)...)
	s.run(append([]string{"valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file=calls", "./program"}, p.arguments...)...)
	s.run("afdo", "create", "--binary", "program", "--profile", "calls", "--to", "v4", "-o", "prof.v4")
	return load(t, s.path("prof.v4"))
}

// joined writes one source for each folder of sources, which includes all sources of that folder.
// It returns the names of the new files.
func (s *site) joined(sources []string) (all []string) {
	texts := make(map[string]string)
	for _, source := range sources {
		name := strings.ReplaceAll(filepath.Dir(source), "/", "-") + "-joined.cc"
		if texts[name] == "" {
			all = append(all, name)
		}
		texts[name] += fmt.Sprintf("#include %q\n", s.path(source))
	}
	for name, text := range texts {
		s.write(name, text)
	}
	return all
}

// onOtherPaths returns a profile in which the paths of the standard library's headers are those of
// another version.
func onOtherPaths(p *profile.Profile) *profile.Profile {
	names := strings.NewReplacer("c++/12", "c++/16")
	q := profile.New()
	refs := make([]profile.SymbolRef, p.NumSymbols())
	for s := range refs {
		ref := profile.SymbolRef(s)
		refs[s] = q.AddSymbol(q.AddUnit(names.Replace(p.UnitPath(p.SymbolUnit(ref)))), p.SymbolName(ref))
	}
	for s, f := range p.Functions() {
		records := append([]profile.Record(nil), f.Records...)
		for i := range records {
			if records[i].Kind != profile.KindCount {
				records[i].Callee = refs[records[i].Callee]
			}
		}
		q.AddFunction(refs[s], profile.Function{HeadCount: f.HeadCount, Timestamp: f.Timestamp, Records: records})
	}
	return q
}

// TestExecProjects compiles real projects with the profile of another build: that build was in
// another folder, had another version of the standard library's headers, and had one of the sources
// elsewhere. The code with slices must equal the code with the whole profile, and mostly differ
// from the code without a profile.
func TestExecProjects(t *testing.T) {
	t.Parallel()
	for name, p := range projects {
		t.Run(name, func(t *testing.T) {
			from := sourcesOf(t, &p)
			testenv.Tool(t, "valgrind")
			testenv.Tool(t, p.compiler)
			trained := onOtherPaths(callgrindProfile(t, &p, from))
			trained.Merge(synth.Profile(synth.Options{Seed: 1, Units: 130, Functions: 5_000}))
			trained.Summary = trained.Summarize()
			whole := writeV4(t, trained)

			s := newProjectSite(t, &p, from)
			require.NoError(t, os.MkdirAll(filepath.Dir(s.path(p.to)), 0o777))
			require.NoError(t, os.Rename(s.path(p.moved), s.path(p.to)))
			for _, compiler := range append([]string{p.compiler}, p.others...) {
				t.Run(compiler, func(t *testing.T) {
					testenv.Optional(t, compiler)
					s.compareCode(t, &p, compiler, whole)
				})
			}
		})
	}
}

// compareCode compiles a project without a profile, with the whole profile and with slices, and
// compares the code.
func (s *site) compareCode(t *testing.T, p *project, compiler, whole string) {
	format := "v2"
	if strings.HasSuffix(compiler, "16") {
		format = "v3"
	}
	program := load(t, whole)
	program.Summary = slice.Steady(program.Summary)
	s.run("afdo", "convert", writeV4(t, program), "--to", format, "-o", "whole."+format)
	sources := testenv.Some(s.files(p.compiled, p.not), 6)
	var mu sync.Mutex
	var sizes []int64
	without := sources[:min(3, len(sources))] // are compiled with no profile as well
	changed := 0
	each(sources, func(source string) {
		base := strings.ReplaceAll(source, "/", "-") + "." + format
		compile := append([]string{compiler, "-O2", "-S", source}, p.defines...)
		run := func(args ...string) bool {
			out, err := s.command(args...).CombinedOutput()
			return assert.NoError(t, err, "%s: %s", source, out)
		}
		plain := slices.Contains(without, source)
		ok := (!plain || run(append(compile, "-o", base+".none")...)) &&
			run(append(compile, "-o", base+".whole", "-fauto-profile=whole."+format)...) &&
			run(append(append([]string{"afdo", "exec", "--no-params", "--profile", whole, "--"}, compile...), "-o", base+".slice")...)
		if !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		assert.True(t, s.read(base+".whole") == s.read(base+".slice"), "%s makes other code with its slice", source)
		if plain && s.read(base+".none") != s.read(base+".whole") {
			changed++
		}
		sizes = append(sizes, fileSize(t, s.path(base+".slice.afdo")))
	})
	total := int64(0)
	for _, size := range sizes {
		total += size
	}
	t.Logf("%d sources, %d of %d other than without a profile; slices of %d bytes together, largest %d", len(sources), changed, len(without), total, largestOf(sizes))
	assert.Greater(t, changed, len(without)/2, "the profile has too little to tell")
}

func largestOf(sizes []int64) (largest int64) {
	for _, size := range sizes {
		largest = max(largest, size)
	}
	return largest
}
