// Package schema has the JSON Schemas of what the command prints. It is a module of its own for
// the validator that its tests import.
package schema

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compile returns the schema of each verb. The schemas reject members that they do not name.
func compile(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	paths, err := filepath.Glob("v1/*.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	ids := make(map[string]string)
	for _, path := range paths {
		schema := read(t, path)
		closeObjects(schema)
		id := schema.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, schema); err != nil {
			t.Fatal(err)
		}
		ids[strings.TrimSuffix(filepath.Base(path), ".json")] = id
	}
	compiled := make(map[string]*jsonschema.Schema)
	for verb, id := range ids {
		if compiled[verb], err = c.Compile(id); err != nil {
			t.Fatal(err)
		}
	}
	return compiled
}

func read(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

// closeObjects changes a schema so that objects reject members that it does not name.
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

// printed runs those tests of the command that print JSON. It returns a folder with the JSON that
// each verb printed.
func printed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "test", "-count=1", "-run", "JSON", "./cmd/afdo")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "AFDO_JSON="+dir, "AFDO_SWEEP=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// The JSON that every verb prints in the tests of the command is valid under the schema of the
// verb.
func TestSchemas(t *testing.T) {
	schemas := compile(t)
	paths, err := filepath.Glob(filepath.Join(printed(t), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{"common": 1} // which others refer to
	for _, path := range paths {
		verb, _, _ := strings.Cut(filepath.Base(path), "-")
		seen[verb]++
		if schemas[verb] == nil {
			t.Fatalf("the JSON of %s has no schema", verb)
		}
		if err := schemas[verb].Validate(read(t, path)); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	for _, verb := range slices.Sorted(maps.Keys(schemas)) {
		if seen[verb] == 0 {
			t.Errorf("nothing that %s has printed is here", verb)
		}
	}
	t.Logf("%d outputs", len(paths))
}

// The schemas reject JSON with changed members. A schema that accepts everything would pass
// TestSchemas.
func TestSchemasRefuse(t *testing.T) {
	for verb, schema := range compile(t) {
		if verb != "common" && schema.Validate(map[string]any{"no such member": 1}) == nil {
			t.Errorf("%s takes an object of none of its members", verb)
		}
	}
}
