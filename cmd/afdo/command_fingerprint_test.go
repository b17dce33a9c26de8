package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// keysOf returns the fingerprints that the verb fingerprint prints, by the path of the unit.
func keysOf(t *testing.T, args ...string) map[string]string {
	t.Helper()
	keys := make(map[string]string)
	for line := range strings.Lines(must(t, append([]string{"fingerprint"}, args...)...)) {
		key, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, line)
		require.Len(t, key, 16, line)
		keys[path] = key
	}
	return keys
}

func TestFingerprintEncodings(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	for _, compiler := range []string{"gcc12", "gcc16"} {
		want := keysOf(t, path, "--for", compiler)
		assert.Len(t, want, p.NumUnits()-1)
		for _, f := range []anyprof.Format{anyprof.V4Compact, anyprof.V3, anyprof.Text} {
			other := filepath.Join(t.TempDir(), "other")
			require.Equal(t, cli.StatusDone, afdoRun("convert", path, "-o", other, "--to", f.String()).status)
			assert.Equal(t, want, keysOf(t, other, "--for", compiler), f.String())
			assert.Equal(t, map[string]string{source: want[source]}, keysOf(t, other, "--unit", source, "--for", compiler))
		}
	}
	assert.Equal(t, keysOf(t, path), keysOf(t, path, "--for", "gcc12"))
}

// TestFingerprintManyUnits checks that the processor time grows in proportion to the file, from
// 10,000 units to five times as many.
func TestFingerprintManyUnits(t *testing.T) {
	testenv.NeedSweep(t)
	s := newSite(t)
	work := func(units int, args ...string) float64 {
		path := s.path(strconv.Itoa(units))
		if _, err := os.Stat(path); err != nil {
			require.NoError(t, os.WriteFile(path, gen.Big(units, true), 0o666))
		}
		cmd := s.command(append(args, path)...)
		cmd.Stdout = io.Discard
		require.NoError(t, cmd.Run())
		return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	for _, args := range [][]string{{"fingerprint", "--for", "gcc16"}, {"index", "-o", os.DevNull}} {
		few, many := work(5_000, append([]string{"afdo"}, args...)...), work(25_000, append([]string{"afdo"}, args...)...)
		t.Logf("afdo %s: %.2f s and %.2f s", strings.Join(args, " "), few, many)
		assert.Less(t, many, 10*few, "afdo %s: %.2f s for 5,000 units, %.2f s for 25,000", strings.Join(args, " "), few, many)
	}
}

func TestFingerprintChanges(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	before := keysOf(t, path)
	beforeGCC16 := keysOf(t, path, "--for", "gcc16")
	p.Summary = nil
	change(t, p, source)
	replaceV4(t, path, p)
	after := keysOf(t, path)
	changed := 0
	for unit := range before {
		if before[unit] != after[unit] {
			changed++
		}
	}
	assert.NotEqual(t, before[source], after[source])
	assert.Less(t, changed, len(before)/4, "of %d keys", len(before))
	for unit, key := range keysOf(t, path, "--for", "gcc16") {
		// The largest head count and the like stand in the summary, or nothing has changed for
		// GCC 16.
		if unit == source {
			assert.NotEqual(t, beforeGCC16[unit], key)
		}
	}
}

// TestFingerprintSlices compares fingerprints with slices: for GCC 12, the fingerprints of two
// profiles are equal if and only if the slices are.
func TestFingerprintSlices(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	for _, step := range []struct {
		what string
		do   func()
		same bool
	}{
		{"a sample of the unit", func() { change(t, p, source) }, false},
		{"a name nobody looks for", func() { p.AddSymbol(p.AddUnit("/new.c"), "unheard_of") }, true},
		{"a name of unknown file", func() { p.AddSymbol(profile.UnknownUnit, "unheard_of") }, false},
	} {
		args := []string{path, "--unit", source, "--quantize", "64"}
		key, part := keysOf(t, args...), must(t, append([]string{"slice", "--to", "v2"}, args...)...)
		step.do()
		replaceV4(t, path, p)
		assert.Equal(t, step.same, key[source] == keysOf(t, args...)[source], step.what)
		assert.Equal(t, step.same, part == must(t, append([]string{"slice", "--to", "v2"}, args...)...), step.what)
	}
}

func TestFingerprintJSON(t *testing.T) {
	path := writeV4(t, tinyProfile("/src/a.c", "/src/\xff.c", ""))
	var facts []compile.FingerprintFacts
	mustJSON(t, &facts, "fingerprint", path, "--json")
	keys := keysOf(t, path)
	require.Len(t, facts, 2)
	assert.Equal(t, compile.FingerprintFacts{Unit: "/src/a.c", Key: keys["/src/a.c"]}, facts[0])
	assert.Equal(t, compile.FingerprintFacts{Unit: "/src/\ufffd.c", UnitBase64: "L3NyYy//LmM=", Key: keys[`"/src/\xff.c"`]}, facts[1])
}

func TestFingerprintDeps(t *testing.T) {
	path := writeV4(t, tinyProfile("/src/a.c", "/src/a.h"))
	deps := writeFile(t, "a.d", []byte("a.o: src/a.c src/a.h\n"))
	alone := keysOf(t, path, "--unit", "src/a.c")
	with := keysOf(t, path, "--unit", "src/a.c", "--deps", deps)
	assert.NotEqual(t, alone, with)
	require.NoError(t, os.WriteFile(deps, []byte("a.o: src/a.c\n"), 0o666))
	assert.Equal(t, alone, keysOf(t, path, "--unit", "src/a.c", "--deps", deps))
}

func TestFingerprintErrors(t *testing.T) {
	path := writeV4(t, tinyProfile("/src/a.c", "/lib/a.c"))
	for _, c := range []struct {
		args   []string
		status int
		err    string
	}{
		{nil, cli.StatusUsage, "missing argument FILE"},
		{[]string{path, "--deps", "x"}, cli.StatusUsage, "--deps goes with --unit"},
		{[]string{path, "--for", "icc"}, cli.StatusUsage, "want gcc10"},
		{[]string{path, "--unit", "a.c"}, cli.StatusFault, "unit a.c is ambiguous"},
		{[]string{example(".v2.afdo")}, cli.StatusFault, "tells the unit of no function"},
		{[]string{"missing"}, cli.StatusFault, "no such file"},
	} {
		t.Run(c.err, func(t *testing.T) {
			r := afdoRun(append([]string{"fingerprint"}, c.args...)...)
			assert.Equal(t, c.status, r.status, "%v", c.args)
			assert.Contains(t, r.err, c.err, "%v", c.args)
		})
	}
	r := afdoRun("fingerprint", path, "--unit", "x.c")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Equal(t, "afdo: "+path+": unit \"x.c\": not found, near: \"/lib/a.c\", \"/src/a.c\"; a file that has headers in the profile alone takes --deps\n", r.err)
	assert.Empty(t, r.out)
	// With headers there is something that the key can be of.
	deps := filepath.Join(t.TempDir(), "x.d")
	require.NoError(t, os.WriteFile(deps, []byte("x.o: x.c /lib/a.c\n"), 0o666))
	r = afdoRun("fingerprint", path, "--unit", "x.c", "--deps", deps)
	assert.Equal(t, cli.StatusDone, r.status)
	assert.Contains(t, r.out, "  x.c\n")
}
