package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// maxKept is the size in bytes of the largest output that keepJSON stores.
const maxKept = 8 << 10

// keepJSON stores the JSON that a verb has printed in the folder $AFDO_JSON, where tests of module
// schema compare it with the verb's schema.
func keepJSON(t *testing.T, verb, out string) {
	t.Helper()
	dir := os.Getenv("AFDO_JSON")
	if dir == "" {
		return
	}
	file, err := os.CreateTemp(dir, verb+"-*.json")
	require.NoError(t, err)
	_, err = file.WriteString(out)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// needProgram lists the verbs that need a program or its sources. Their own tests print JSON.
var needProgram = map[string]bool{"create": true, "exec": true, "explain": true, "explain_layout": true, "layout": true, "rebase": true, "record": true, "tune": true}

// TestJSONOfVerbs checks that every verb that has a schema prints JSON for every kind of profile
// that it takes.
func TestJSONOfVerbs(t *testing.T) {
	zoo := "../../format/llvm/instrprof/testdata/zoo/"
	shop, counters := example(".compact.afdo"), zoo+"ir.profdata"
	indexed := filepath.Join(t.TempDir(), "indexed")
	must(t, "convert", shop, "-o", indexed, "--to", "v4c", "--index")
	samples := writeFile(t, "samples", []byte("[main:3.1 @ f]:9:2\n 1: 7 g:5\n !Attributes: 1\n[main]:5:1\n 1: 5\n"))
	plain := writeFile(t, "plain", []byte("main:100:3\n 1: 10\n 2.1: 20 f:15 g:5\n 3: callee:60\n  1: 40\n"))
	heap := writeFile(t, "heap", []byte(heapYAML))
	raw := writeFile(t, "raw", []byte(memprof.RawMagic))
	made := filepath.Join(t.TempDir(), "made")
	seen := make(map[string]bool)
	for _, args := range [][]string{
		{"show", shop}, {"show", indexed}, {"show", example(".v2.afdo")}, {"show", counters}, {"show", zoo + "context-sensitive.proftext"}, {"show", zoo + "ir.profraw"}, {"show", samples}, {"show", plain}, {"show", heap}, {"show", countersDir + "gcc12.gcda"},
		{"units", shop},
		{"lookup", shop, "-u", "cart.cc"}, {"lookup", shop, "-s", "main", "--demangle"}, {"lookup", shop, "-u", "", "-s", "memcpy"},
		{"lookup", counters, "-s", "main"}, {"lookup", zoo + "mcdc.profdata", "-s", "main"}, {"lookup", samples, "-s", "f", "--demangle"}, {"lookup", plain, "-s", "main"},
		{"check", shop, counters, samples, heap}, {"check", raw}, {"check", "../../testdata/corrupt/bad-magic.afdo", "../../testdata/corrupt/dangling-callee.afdo"},
		{"top", shop}, {"top", shop, "--calls", "--no-demangle"}, {"top", counters}, {"top", heap}, {"top", samples, "-n", "0"},
		{"annotate", shop, "--unit", "cart.cc"},
		{"fingerprint", shop},
		{"diff", shop, example(".v3.afdo")}, {"diff", shop, indexed, "--units"}, {"diff", shop, plain}, {"diff", counters, zoo + "frontend.profdata"}, {"diff", counters, zoo + "ir-cpp.profdata"},
		{"cache"},
		{"convert", shop, "-o", made}, {"merge", shop, shop, "-o", made}, {"merge", shop, plain, "--keep-going", "-o", made}, {"index", shop, "-o", made},
		{"slice", shop, "--unit", "cart.cc", "--to", "v2", "-o", made},
		{"config"}, {"version"},
	} {
		r := afdoRun(append(args, "--json")...)
		require.NotEmpty(t, r.out, "%v: %s", args, r.err)
		require.Regexp(t, `^{\s*"schema_version": 1,`, r.out, "%v", args)
		keepJSON(t, args[0], r.out)
		seen[args[0]] = true
	}
	schemas, err := filepath.Glob("../../spec/schema/v1/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, schemas)
	for _, path := range schemas {
		verb := strings.TrimSuffix(filepath.Base(path), ".json")
		if verb != "common" && !needProgram[verb] {
			assert.True(t, seen[verb], verb)
		}
	}
}

const heapYAML = `---
HeapProfileRecords:
  - GUID: main
    AllocSites:
      - Callstack:
          - { Function: main, LineOffset: 9, Column: 1, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 4
          TotalSize: 96
    CallSites: []
`
