package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// hideSections changes the type of sections with functions in an ExtBinary file, so that readers
// skip them.
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

// TestHiddenFunctions checks that a file whose functions cannot be reached has a fault, and that no
// verb reads it as an empty profile.
func TestHiddenFunctions(t *testing.T) {
	extbinary := convertedTo(t, "extbinary", example(".afdo"))
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	end := bytes.Index(text, []byte("}\n}\n\n\"")) // of the summary
	require.Less(t, 0, end)
	indexed := bytes.Clone(zooFile(t, "ir.profdata"))
	entries := binary.LittleEndian.Uint64(indexed[32:]) + 8
	binary.LittleEndian.PutUint64(indexed[entries:], 0)
	v3 := new(bytes.Buffer)
	empty := profile.New()
	empty.Summary = &afdo.Summary{TotalCount: 9, NumCounts: 2}
	_, err = gcov.Write(v3, empty, gcov.WriteOptions{Version: 3})
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"a text that was cut after a symbol": append(bytes.Clone(text[:end+4]), "\"f\":-1(1:0:0) = {}\n"...),
		"version 3 without functions":        v3.Bytes(),
		"version 4 without functions":        gen.Encode(&naive.File{Summary: naive.Summary{MaxFnCount: 7}, Units: make([]naive.Unit, 1)}, false),
		"functions of a later type":          hideSections(t, extbinary, 60),
		"a type of 35 bits":                  hideSections(t, extbinary, 1<<34+32),
		"a section of no functions":          hideSections(t, extbinary, 12),
		"a text that was cut":                text[:end+4],
		"a hash table of nothing":            indexed,
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

// TestSliceOfNothing checks that a slice without functions is accepted as complete, although its
// summary has the largest count of the whole profile.
func TestSliceOfNothing(t *testing.T) {
	for _, format := range []string{"v4", "v3", "text", "extbinary"} {
		out := filepath.Join(t.TempDir(), "out")
		r := afdoRun("slice", example(".afdo"), "--exact-summary", "--unit", "missing.c", "--to", format, "-o", out)
		require.Zero(t, r.status, r.err)
		for _, args := range [][]string{{"check", out}, {"top", out}, {"convert", out, "--to", format, "-o", out + "2"}} {
			assert.Equal(t, cli.StatusDone, afdoRun(args...).status, "%s: %s", format, args)
		}
	}
}

func formatNameOf(name string) string {
	switch name {
	case "a text that was cut", "a text that was cut after a symbol", "version 3 without functions", "version 4 without functions":
		return "v4"
	case "a hash table of nothing":
		return "profdata"
	}
	return "sampletext"
}

// TestLookupOfHidden looks up a symbol and a unit that the index of a local file leaves out: lookup
// finds them in the rest of the file.
func TestLookupOfHidden(t *testing.T) {
	data := []byte(must(t, "convert", example(".afdo"), "--to", "v4c", "--index", "-o", "-"))
	at := bytes.LastIndex(data, []byte("afdo\x01")) - 1 // the index
	require.Positive(t, at)
	lines := [][]string{{"--symbol", "_ZNK4shop4Cart4fullEv"}, {"--unit", "src/cart.cc", "--symbol", "_ZNK4shop4Cart4fullEv"}, {"--symbol", "main"}}
	path := writeFile(t, "whole.v4c", data)
	var want []string
	for _, line := range lines {
		want = append(want, must(t, append([]string{"lookup", path}, line...)...))
	}
	step := max(1, (len(data)-at)/testenv.Rounds(40, 2_000))
	for i := at + 6; i < len(data); i += step {
		mutant := bytes.Clone(data)
		mutant[i] ^= 0x55
		fixPages(mutant[at:])
		path := writeFile(t, "in.v4c", mutant)
		for j, line := range lines {
			if r := afdoRun(append([]string{"lookup", path}, line...)...); r.status == 0 {
				assert.Equal(t, want[j], r.out, "byte %d of the index", i-at)
			} else {
				assert.NotContains(t, r.err, "not found", "byte %d of the index", i-at)
			}
		}
	}
}

// fixPages updates the checksums of the pages of an index after a change of their bytes.
func fixPages(section []byte) {
	for i := uint64(0); len(section) > 4; i++ {
		page := section[:min(1024, len(section))]
		d := xxhash.NewWithSeed(i)
		_, _ = d.Write(page[:len(page)-4])
		binary.BigEndian.PutUint32(page[len(page)-4:], uint32(d.Sum64()))
		section = section[len(page):]
	}
}

// TestMergeNamesEmptyInputs checks that merge reports the inputs without counts.
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

// TestReadersAgree checks that samples without a symbol, and two symbols with the same name, are
// errors of every verb that reads them.
func TestReadersAgree(t *testing.T) {
	corrupt := "../../testdata/corrupt/"
	out := writeFile(t, "out", nil)
	for _, mode := range []string{".afdo", ".compact.afdo"} {
		for _, c := range []struct{ file, want string }{
			{"unused-section", "samples that no symbol has"},
			{"two-symbols-of-one-name", "two symbols of one name"},
			{"trie-duplicate-siblings", `duplicate string "f"`},
		} {
			path := corrupt + c.file + mode
			for _, args := range [][]string{
				{"show", path}, {"top", path}, {"units", path}, {"convert", path, "--to", "text", "-o", out},
				{"convert", path, "--to", "v3", "-o", out}, {"merge", path, path, "--to", "v4", "-o", out},
			} {
				r := afdoRun(args...)
				assert.Equal(t, cli.StatusFault, r.status, "%s", args)
				assert.Contains(t, r.err, c.want, "%s", args)
			}
		}
		path := corrupt + "two-symbols-of-one-name" + mode
		for _, args := range [][]string{{"-s", "f"}, {"-u", "a.c", "-s", "f"}, {"-u", "a.c"}} {
			r := afdoRun(append([]string{"lookup", path}, args...)...)
			assert.Equal(t, cli.StatusFault, r.status, "%s", args)
			assert.Contains(t, r.err, "two symbols of one name", "%s", args)
		}
	}
}
