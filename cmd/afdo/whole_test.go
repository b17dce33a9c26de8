package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// hideSections gives sections of functions in an ExtBinary file another type.
func hideSections(t *testing.T, data []byte, to uint64) []byte {
	t.Helper()
	data = bytes.Clone(data)
	at := bytes.Index(data, binary.LittleEndian.AppendUint64(nil, 32))
	require.Positive(t, at)
	binary.LittleEndian.PutUint64(data[at:], to)
	return data
}

func convertedTo(t *testing.T, format, path string) []byte {
	t.Helper()
	r := afdoRun("convert", path, "--to", format, "-o", "-")
	require.Zero(t, r.status, r.err)
	return []byte(r.out)
}

// A file whose functions are out of reach is at fault. No verb takes it for an empty profile.
func TestHiddenFunctions(t *testing.T) {
	extbinary := convertedTo(t, "extbinary", example(".afdo"))
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	end := bytes.Index(text, []byte("}\n}\n\n\"")) // of the summary
	require.Less(t, 0, end)
	indexed := bytes.Clone(zooFile(t, "ir.profdata"))
	entries := binary.LittleEndian.Uint64(indexed[32:]) + 8
	binary.LittleEndian.PutUint64(indexed[entries:], 0)
	for name, data := range map[string][]byte{
		"functions of a later type": hideSections(t, extbinary, 60),
		"a type of 35 bits":         hideSections(t, extbinary, 1<<34+32),
		"a section of no functions": hideSections(t, extbinary, 12),
		"a text that was cut":       text[:end+4],
		"a hash table of nothing":   indexed,
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "in", data)
			assert.Equal(t, cli.StatusFault, afdoRun("check", path).status)
			for _, args := range [][]string{{"top", path}, {"show", path}} {
				assert.Equal(t, cli.StatusFault, afdoRun(args...).status, "%s", args)
			}
			format := formatNameOf(name)
			out := path + ".out"
			for _, verb := range []string{"convert", "merge"} {
				r := afdoRun(verb, path, "--to", format, "-o", out)
				assert.Equal(t, cli.StatusFault, r.status, verb)
				assert.NoFileExists(t, out)
			}
		})
	}
}

func formatNameOf(name string) string {
	switch name {
	case "a text that was cut":
		return "v4"
	case "a hash table of nothing":
		return "profdata"
	}
	return "sampletext"
}

// A merge names the inputs that bring nothing.
func TestMergeNamesEmptyInputs(t *testing.T) {
	empty := writeFile(t, "empty.txt", []byte("filenames = {\n}\nsummary = {\n  total_count = 0,\n  max_count = 0,\n  max_fn_count = 0,\n  num_counts = 0,\n  num_functions = 0,\n  num_detailed_entries = 0,\n  detailed_entries = {\n  }\n}\n"))
	extbinary := writeFile(t, "empty.extbinary", convertedTo(t, "extbinary", empty))
	full := writeFile(t, "full.extbinary", convertedTo(t, "extbinary", example(".afdo")))
	for _, c := range [][3]string{{example(".afdo"), empty, "v4"}, {full, extbinary, "extbinary"}} {
		r := afdoRun("merge", c[0], c[1], "--to", c[2], "-o", writeFile(t, "out", nil))
		require.Zero(t, r.status, r.err)
		assert.Equal(t, "afdo: "+c[1]+": no counts\n", r.err)
	}
}
