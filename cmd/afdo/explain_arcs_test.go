package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func TestExplainArcs(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(t.TempDir(), "cache"))
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	require.NoError(t, os.WriteFile(source, []byte("int often(int n) {\n  while (n % 7)\n    n += n / 5;\n  return n;\n}\n"), 0o666))
	p := profile.New()
	p.AddFunction(p.AddSymbol(p.AddUnit(source), "often"), profile.Function{HeadCount: 3, Records: []profile.Record{{Kind: profile.KindCount, Line: 2, Count: 70}}})
	place := []profile.Place{{Position: profile.Position{File: source, Line: 3, Column: 7}, Factor: 1}, {Position: profile.Position{File: source, Line: 99}, Factor: 1}}
	p.SetEvidence(&profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "often", Unit: source, Frames: []profile.InlineFrame{{Parent: -1, Function: "often", Declared: 1}},
		Blocks: []profile.CodeBlock{{Count: 70, Size: 2, Places: place}},
	}}})
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{}))
	path := writeFile(t, "p.afdo", file.Bytes())
	compile := []string{"--", gcc, "-O2", "-c", source, "-o", filepath.Join(dir, "a.o")}

	var facts map[string]any
	out := must(t, append([]string{"explain", path, "--as", "arcs", "--json"}, compile...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &facts))
	assert.Equal(t, 140.0, facts["counts"])
	assert.Equal(t, 70.0, facts["owned"])
	assert.Equal(t, 1.0, facts["inferred"])
	out = must(t, append([]string{"explain", path, "--as=arcs"}, compile...)...)
	assert.Contains(t, out, "with an owner in a graph        70   50.0%\n")
	r := afdoRun(append([]string{"explain", path, "--as=arcs", "--min-found", "60%"}, compile...)...)
	assert.Equal(t, 1, r.status)
	assert.NoFileExists(t, filepath.Join(dir, "a.o"))
	r = afdoRun("explain", path, "--as", "lists", "--", "gcc")
	assert.Equal(t, 2, r.status)
	r = afdoRun(append([]string{"slice", path, "--to", "gcda", "-o", "x"}, "--unit", source)...)
	assert.Equal(t, 2, r.status)
}
