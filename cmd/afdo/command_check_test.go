package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// checkedFile is an item in the JSON of check.
type checkedFile struct {
	File     string
	Problems []struct {
		Kind        string
		Section     *int
		SectionType string `json:"section_type"`
		Offset      *int64
		Line        int
		Column      int
		Class       string
		Detail      string
		More        int
		MoreOffsets []int64 `json:"more_offsets"`
	}
	Faults  int
	Remarks int
	Error   string
}

// checked runs check on a file with and without --json, whose outputs must agree, and returns the
// lines of text without the file's name.
func checked(t *testing.T, path string) []string {
	t.Helper()
	text := afdoRun("check", path)
	asJSON := afdoRun("check", "--json", path)
	require.Empty(t, text.err+asJSON.err)
	require.Equal(t, text.status, asJSON.status)
	var files []checkedFile
	require.NoError(t, json.Unmarshal([]byte(arrayOf(asJSON.out)), &files), asJSON.out)
	require.Len(t, files, 1)
	require.Equal(t, path, files[0].File)
	require.Equal(t, min(files[0].Faults, 1), text.status)
	require.Empty(t, files[0].Error)

	var lines []string
	for line := range strings.Lines(text.out) {
		rest, ok := strings.CutPrefix(line, path+": ")
		require.True(t, ok, line)
		lines = append(lines, strings.TrimSuffix(rest, "\n"))
	}
	require.Len(t, lines, len(files[0].Problems))
	kinds := map[string]int{}
	for i, p := range files[0].Problems {
		kinds[p.Kind] += 1 + p.More
		assert.True(t, strings.HasPrefix(lines[i], p.Kind+": "), lines[i])
		assert.Contains(t, lines[i], p.Class)
		assert.Contains(t, lines[i], p.Detail)
		if p.Offset != nil {
			assert.Contains(t, lines[i], fmt.Sprintf("offset %d: ", *p.Offset))
		}
		if p.Section != nil {
			assert.Contains(t, lines[i], fmt.Sprintf("section %d (%s)", *p.Section, p.SectionType))
		}
		if p.Line > 0 {
			assert.Contains(t, lines[i], fmt.Sprintf("line %d, column %d: ", p.Line, p.Column))
		}
	}
	require.Equal(t, map[string]int{"fault": files[0].Faults, "remark": files[0].Remarks}, map[string]int{"fault": kinds["fault"], "remark": kinds["remark"]})
	return lines
}

func TestCheckSoundFiles(t *testing.T) {
	for _, extension := range []string{".afdo", ".compact.afdo", ".v2.afdo", ".v3.afdo", ".txt"} {
		assert.Empty(t, checked(t, example(extension)), extension)
	}
}

// TestCheckCorruptFiles checks that check reports each corrupt file of the library's tests, also
// those that cannot be opened.
func TestCheckCorruptFiles(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/corrupt/*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	line := regexp.MustCompile(`^(fault|remark): ((section \d+ \(.+?\)|header) at offset \d+: |offset \d+: |unsupported|not a profile)`)
	remarks := 0
	for _, path := range paths {
		lines := checked(t, path)
		if strings.HasPrefix(filepath.Base(path), "sound.") {
			assert.Empty(t, lines)
			continue
		}
		assert.NotEmpty(t, lines, path)
		for _, l := range lines {
			assert.Regexp(t, line, l, path)
		}
		if strings.HasPrefix(lines[0], "remark") {
			remarks++
		}

		data, err := os.ReadFile(path)
		require.NoError(t, err)
		piped := afdoWith(bytes.NewReader(data), "check", "-")
		require.Equal(t, afdoRun("check", path).out, strings.ReplaceAll(piped.out, "standard input: ", path+": "))
	}
	assert.Equal(t, 4, remarks, "files with remarks alone")
}

// TestCheckWrittenFiles checks files that this module writes: they have no faults, and the summary
// of a version 3 file agrees with its data.
func TestCheckWrittenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile")
	written := 0
	for seed := range uint64(testenv.Rounds(15, 60)) {
		o := gen.All()
		o.NULNames, o.WideLines, o.RawNames = false, false, seed%2 == 0
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 0xc4)), o)
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		p, err := profile.Read(r)
		require.NoError(t, err)
		p.Summary = nil
		for _, f := range []anyprof.Format{anyprof.V4, anyprof.V4Compact, anyprof.V3, anyprof.V2} {
			var file bytes.Buffer
			losses, err := (&gcovkind.Kind{BigEndian: seed%3 == 0}).EncodeFormat(&file, f, p)
			require.NoError(t, err)
			if losses.Symbols > 0 {
				continue // what became one function is several in the summary
			}
			written++
			require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
			require.Empty(t, checked(t, path), "seed %d, %s", seed, f.String())
		}
	}
	assert.Greater(t, written, testenv.Rounds(35, 150))
}

// oldExample returns the example in version 3 with the bytes old, which must occur once, replaced
// by new.
func oldExample(t *testing.T, old, new string) []byte {
	t.Helper()
	data, err := os.ReadFile(example(".v3.afdo"))
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(data, []byte(old)), "%q", old)
	require.Equal(t, len(old), len(new))
	return bytes.Replace(data, []byte(old), []byte(new), 1)
}

func TestCheckOldFormats(t *testing.T) {
	data, err := os.ReadFile(example(".v3.afdo"))
	require.NoError(t, err)
	p, err := gcov.ParseBytes(data)
	require.NoError(t, err)
	total := binary.LittleEndian.AppendUint64(nil, p.Summary.TotalCount)
	entry := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, p.Summary.Entries[2].Cutoff), p.Summary.Entries[2].MinCount)
	wrongEntry := bytes.Clone(entry)
	wrongEntry[4]++
	for name, test := range map[string]struct {
		data []byte
		want []string
	}{
		"cut":          {data[:len(data)-1], []string{"fault: offset 2136: truncated section: "}},
		"other layout": {oldExample(t, "\x00\x00\x00\xac", "\x00\x00\x00\xad"), []string{"fault: offset 852: bad layout: tag 0xad000000"}},
		"total": {oldExample(t, string(total), "\x07"+string(total[1:])), []string{
			fmt.Sprintf("remark: offset 16: summary disagrees: total count is %d, the data make it %d", p.Summary.TotalCount&^0xff|7, p.Summary.TotalCount)}},
		"entry": {oldExample(t, string(entry), string(wrongEntry)), []string{"remark: offset 104: summary disagrees: cutoff 200000 has "}},
		"order": {oldExample(t, "_ZN4shop4Cart3addERKNS_4ItemE", "zZN4shop4Cart3addERKNS_4ItemE"), []string{"does not ascend"}},
		"twice": {oldExample(t, "_ZNK4shop4Cart4fullEv", "_ZN4shop4Cart5clearEv"), []string{`: bad name table: name 7, "_ZN4shop4Cart5clearEv", is a duplicate`}},
	} {
		path := writeFile(t, "profile", test.data)
		lines := checked(t, path)
		require.Len(t, lines, len(test.want), "%s: %q", name, lines)
		for i, want := range test.want {
			if !assert.Contains(t, lines[i], want, name) {
				t.Log(lines[i])
			}
		}
	}
}

func TestCheckText(t *testing.T) {
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	for name, test := range map[string]struct{ old, new, want string }{
		"syntax": {"max_count", "maximum", "fault: line "},
		"total":  {"total_count = ", "total_count = 1", "remark: summary disagrees: total count is 1"},
		"number": {"num_functions = ", "num_functions = 0", ""},
		"fewer":  {"num_counts = ", "num_counts = 1, num_counts = ", "fault: line "},
	} {
		require.Contains(t, string(text), test.old)
		lines := checked(t, writeFile(t, "profile.txt", []byte(strings.Replace(string(text), test.old, test.new, 1))))
		if test.want == "" {
			assert.Empty(t, lines, name)
			continue
		}
		require.Len(t, lines, 1, name)
		assert.Contains(t, lines[0], test.want, name)
	}
}

// TestCheckProfileWithoutFunctions checks that an instrumentation profile without functions has no
// faults in any format.
func TestCheckProfileWithoutFunctions(t *testing.T) {
	text := writeFile(t, "empty.proftext", []byte(":ir\n"))
	indexed := filepath.Join(t.TempDir(), "empty.profdata")
	require.Zero(t, afdoRun("convert", text, "--to", "profdata", "-o", indexed).status)
	again := filepath.Join(t.TempDir(), "again.proftext")
	require.Zero(t, afdoRun("convert", indexed, "--to", "proftext", "-o", again).status)
	for _, path := range []string{text, indexed, again} {
		assert.Zero(t, afdoRun("check", path).status, path)
	}
	assert.Contains(t, afdoRun("check", text).out, "remark: bad count: no functions")
}

// TestCheckSeveralFiles checks several files at once: one that is not a profile has a fault, one
// that cannot be read is an error, and the others are checked nevertheless.
func TestCheckSeveralFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	empty := writeFile(t, "empty", nil)
	r := afdoRun("check", missing, empty, example(".afdo"), example(".txt"))
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Equal(t, empty+": fault: not a profile: it is empty\n", r.out)
	assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
	assert.Contains(t, r.err, missing)

	asJSON := afdoRun("check", "--json", missing, empty, example(".afdo"))
	var files []checkedFile
	require.NoError(t, json.Unmarshal([]byte(arrayOf(asJSON.out)), &files), asJSON.out)
	require.Len(t, files, 3)
	assert.Contains(t, files[0].Error, missing)
	assert.Equal(t, 1, files[1].Faults)
	assert.Equal(t, checkedFile{File: example(".afdo"), Problems: files[2].Problems}, files[2])
	assert.Empty(t, files[2].Problems)

	cut := writeFile(t, "cut.gz", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	assert.Equal(t, "afdo: "+cut+": gzip data: unexpected EOF\n", afdoRun("check", cut).err)

	assert.Equal(t, cli.StatusUsage, afdoRun("check").status)
	assert.Equal(t, cli.StatusFault, afdoRun("check", t.TempDir()).status, "a folder")
}
