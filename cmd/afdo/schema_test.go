package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/memprof"
)

const schemaFolder = "../../schema/v1/"

// schemas has the schema of each verb, with no room for members that it does not name.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	paths, err := filepath.Glob(schemaFolder + "*.json")
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	ids := make(map[string]string)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		closeObjects(schema)
		id := schema.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, schema); err != nil {
			return nil, err
		}
		ids[strings.TrimSuffix(filepath.Base(path), ".json")] = id
	}
	compiled := make(map[string]*jsonschema.Schema)
	for verb, id := range ids {
		if compiled[verb], err = c.Compile(id); err != nil {
			return nil, err
		}
	}
	return compiled, nil
})

// closeObjects has all objects with properties allow no others.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		for _, part := range s {
			closeObjects(part)
		}
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
	case []any:
		for _, part := range s {
			closeObjects(part)
		}
	}
}

// maxValidated is how long an output is that is compared with its schema by the way.
const maxValidated = 8 << 10

// validate checks the JSON that a verb has printed.
func validate(t *testing.T, verb, out string) {
	t.Helper()
	all, err := schemas()
	require.NoError(t, err)
	require.Contains(t, all, verb, "the JSON of a verb has no schema")
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	require.NoError(t, err)
	require.NoError(t, all[verb].Validate(value), "%.500s", out)
}

// Every verb prints what its schema says, for every kind of profile that it takes.
func TestSchemas(t *testing.T) {
	zoo := "../../instrprof/testdata/zoo/"
	shop, counters := example(".compact.afdo"), zoo+"ir.profdata"
	indexed := filepath.Join(t.TempDir(), "indexed")
	must(t, "convert", shop, "-o", indexed, "--to", "v4c", "--index")
	samples := writeFile(t, "samples", []byte("[main:3.1 @ f]:9:2\n 1: 7 g:5\n !Attributes: 1\n[main]:5:1\n 1: 5\n"))
	plain := writeFile(t, "plain", []byte("main:100:3\n 1: 10\n 2.1: 20 f:15 g:5\n 3: callee:60\n  1: 40\n"))
	heap := writeFile(t, "heap", []byte(heapYAML))
	raw := writeFile(t, "raw", []byte(memprof.RawMagic))
	seen := make(map[string]bool)
	for _, args := range [][]string{
		{"show", shop}, {"show", indexed}, {"show", example(".v2.afdo")}, {"show", counters}, {"show", zoo + "context-sensitive.proftext"}, {"show", zoo + "ir.profraw"}, {"show", samples}, {"show", plain}, {"show", heap},
		{"units", shop},
		{"lookup", shop, "-u", "cart.cc"}, {"lookup", shop, "-s", "main", "--demangle"}, {"lookup", shop, "-u", "", "-s", "memcpy"},
		{"lookup", counters, "-s", "main"}, {"lookup", zoo + "mcdc.profdata", "-s", "main"}, {"lookup", samples, "-s", "f", "--demangle"}, {"lookup", plain, "-s", "main"},
		{"check", shop, counters, samples, heap}, {"check", raw}, {"check", "../../testdata/corrupt/bad-magic.afdo", "../../testdata/corrupt/dangling-callee.afdo"},
		{"top", shop}, {"top", shop, "--calls", "--no-demangle"}, {"top", counters}, {"top", heap}, {"top", samples, "-n", "0"},
		{"annotate", shop, "--unit", "cart.cc"},
		{"fingerprint", shop},
		{"diff", shop, example(".v3.afdo")}, {"diff", shop, indexed, "--units"}, {"diff", shop, plain}, {"diff", counters, zoo + "frontend.profdata"}, {"diff", counters, zoo + "ir-cpp.profdata"},
		{"cache"},
	} {
		r := afdoRun(append(args, "--json")...)
		require.NotEmpty(t, r.out, "%v: %s", args, r.err)
		validate(t, args[0], r.out)
		seen[args[0]] = true
	}
	all, err := schemas()
	require.NoError(t, err)
	for verb := range all {
		if verb != "common" && verb != "create" { // which needs a program: see its own tests
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
