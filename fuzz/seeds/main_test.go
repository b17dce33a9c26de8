package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// fuzzTargets returns, for each fuzz target of the repository, the files that define it.
func fuzzTargets(t *testing.T) map[string][]string {
	found := map[string][]string{}
	declaration := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(f \*testing\.F\) \{`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = append(found[m[1]], filepath.ToSlash(path))
		}
		return err
	})
	require.NoError(t, err)
	return found
}

// No name of a fuzz target is a part of another name, because OSS-Fuzz finds targets by name.
func TestNamesAreUnique(t *testing.T) {
	found := fuzzTargets(t)
	for name, paths := range found {
		assert.Len(t, paths, 1, "%s", name)
		for other := range found {
			assert.False(t, other != name && strings.Contains(other, name), "%s is part of %s", name, other)
		}
	}
}

// The list of targets contains all fuzz targets that OSS-Fuzz can build.
func TestTargets(t *testing.T) {
	want := []string{}
	for name, paths := range fuzzTargets(t) {
		for _, path := range paths {
			if slices.Contains([]string{"fuzz_test.go", "format/check/fuzz_test.go", "fuzz/fuzz_test.go", "internal/v4/wire/fuzz_test.go"}, path) {
				want = append(want, name)
			}
		}
	}
	var listed []string
	for _, target := range targets {
		listed = append(listed, target.name)
		path := filepath.Join(target.pkg, "fuzz_test.go")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), "func "+target.name+"(f *testing.F) {")
		assert.NotRegexp(t, `(?m)^package \w+_test$`, string(text), path)
	}
	assert.ElementsMatch(t, want, listed)
}

// Each fuzz target compiles with its package and its own test file, without other test files, as
// OSS-Fuzz builds it.
func TestTargetsBuildAlone(t *testing.T) {
	testenv.NeedSweep(t)
	for _, pkg := range []string{".", "fuzz"} {
		dir, err := filepath.Abs(pkg)
		require.NoError(t, err)
		file := filepath.Join(dir, "fuzz_test.go")
		overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
			file:                                    "",
			filepath.Join(dir, "fuzz_libFuzzer.go"): file,
		}})
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "overlay.json")
		require.NoError(t, os.WriteFile(path, overlay, 0o666))
		out, err := exec.Command("go", "build", "-overlay", path, "./"+pkg).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func TestSeeds(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, run([]string{dir}))
	for _, target := range targets {
		path := filepath.Join(dir, target.name+"_seed_corpus.zip")
		if len(target.seeds) == 0 {
			continue
		}
		z, err := zip.OpenReader(path)
		require.NoError(t, err)
		names := map[string]bool{}
		for _, f := range z.File {
			assert.False(t, names[f.Name], f.Name)
			names[f.Name] = true
			r, err := f.Open()
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			if f.Name == "testdata-shop.afdo" {
				want, err := os.ReadFile("testdata/shop.afdo")
				require.NoError(t, err)
				assert.Equal(t, want, data[1:])
			}
		}
		assert.True(t, names["testdata-shop.afdo"])
		assert.True(t, names["testdata-corrupt-sound.compact.afdo"])
		require.NoError(t, z.Close())
	}
	assert.Error(t, run(nil))
	assert.Error(t, run([]string{filepath.Join(dir, "none")}))
}

func TestDecode(t *testing.T) {
	for _, data := range []string{"", "plain", "\x00\xff\"\\\n"} {
		got, err := decode(fmt.Appendf(nil, "go test fuzz v1\n[]byte(%s)\n", strconv.Quote(data)))
		require.NoError(t, err)
		assert.Equal(t, data, string(got))
	}
	for _, text := range []string{"", "go test fuzz v1\n", "go test fuzz v1\nint(1)\n", "go test fuzz v1\n[]byte(\"\")\n[]byte(\"\")\n", "go test fuzz v1\n[]byte(\"x)\n"} {
		_, err := decode([]byte(text))
		assert.Error(t, err, "%q", text)
	}
}

// Each entry of a dictionary can be parsed by libFuzzer, which stops at an invalid entry, and has
// at most 64 bytes.
func TestDictionaries(t *testing.T) {
	line := regexp.MustCompile(`^"((?:[^"\\[:cntrl:]]|\\"|\\\\|\\x[0-9a-f]{2})+)"$`)
	for _, name := range allDicts {
		text, err := os.ReadFile(filepath.Join("fuzz", name))
		require.NoError(t, err)
		seen := map[string]bool{}
		for l := range strings.Lines(string(text)) {
			l = strings.TrimSuffix(l, "\n")
			if strings.HasPrefix(l, "#") {
				continue
			}
			assert.Regexp(t, line, l, name)
			word, err := strconv.Unquote(l)
			require.NoError(t, err, l)
			assert.LessOrEqual(t, len(word), 64, l)
			assert.False(t, seen[word], "%s: %s is a duplicate", name, l)
			seen[word] = true
		}
		assert.NotEmpty(t, seen)
	}
}
