package memprofkind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A desk is a test's folder with files, in which it runs verbs.
type desk struct {
	*testing.T
	dir      string
	kind     *Kind
	weights  []profile.Ratio
	out, err bytes.Buffer
}

func newDesk(t *testing.T, dir string, flags ...string) *desk {
	t.Helper()
	d := &desk{T: t, dir: dir, kind: new(Kind)}
	verb := &cobra.Command{Use: "verb"}
	verb.Flags().String("to", "", "")
	d.kind.AddFlags(verb)
	require.NoError(t, verb.ParseFlags(flags))
	return d
}

func (d *desk) env() *cli.Env {
	d.out.Reset()
	d.err.Reset()
	return &cli.Env{In: strings.NewReader(""), Out: &d.out, Err: &d.err}
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) open(name string) *input.File {
	d.Helper()
	f, err := input.Open(nil, d.path(name))
	require.NoError(d, err)
	d.Cleanup(f.Close)
	require.True(d, d.kind.Takes(f.Format()), name)
	return f
}

func (d *desk) convert(name, to, format string) {
	d.Helper()
	out := kind.Output{Path: d.path(to), Format: kind.Format{Name: format}}
	require.NoError(d, d.kind.Convert(d.env(), d.open(name), out, new(trim.Flags)))
}

func (d *desk) merge(to string, names ...string) error {
	d.Helper()
	m := kind.Merge{
		Open: func(i int) (*input.File, error) { return input.Open(nil, d.path(names[i])) },
		Say:  func(string, ...any) {}, Trim: new(trim.Flags),
		Out:   kind.Output{Path: d.path(to), Format: kind.Format{Name: formatIndexed}},
		Skip:  func(int, error) bool { return false },
		Limit: func(uint64, uint64) error { return nil },
	}
	m.Weights = d.weights
	for len(m.Weights) < len(names) {
		m.Weights = append(m.Weights, profile.Ratio{Num: 1, Den: 1})
	}
	return d.kind.Merge(d.env(), &m)
}

func (d *desk) read(name string) []byte {
	d.Helper()
	data, err := os.ReadFile(d.path(name))
	require.NoError(d, err)
	return data
}

// shown returns what llvm-profdata shows of an indexed profile.
func (d *desk) shown(name string) string {
	d.Helper()
	return string(run(d, d.dir, "llvm-profdata-22", "show", "--memory", name))
}

// reread parses the YAML that llvm-profdata shows of an indexed profile.
func (d *desk) reread(name string) *memprof.Profile {
	d.Helper()
	p, err := memprof.ParseYAML(strings.NewReader(d.shown(name)))
	require.NoError(d, err)
	return p
}

// parsed parses a YAML file.
func (d *desk) parsed(name string) *memprof.Profile {
	d.Helper()
	p, err := memprof.ParseYAML(bytes.NewReader(d.read(name)))
	require.NoError(d, err)
	return p
}

// TestVerbs runs the verbs on the profile of one run of a program.
func TestVerbs(t *testing.T) {
	dir := trained(t, "-Wl,-z,noseparate-code")
	d := newDesk(t, dir, "--binary", filepath.Join(dir, "program"))
	run(t, dir, "llvm-profdata-22", "merge", "--memprof-version=4", "--profiled-binary=program", "raw", "-o", "llvm")

	// Raw to indexed as llvm-profdata does it, and to YAML as it shows that.
	d.convert("raw", "ours", formatIndexed)
	require.Contains(t, d.err.String(), "call stacks without any function")
	d.convert("ours", "ours.yaml", formatYAML)
	require.Equal(t, d.shown("ours"), string(d.read("ours.yaml")))
	d.convert("llvm", "llvm.yaml", formatYAML)
	require.Equal(t, d.shown("llvm"), string(d.read("llvm.yaml")))
	llvm := d.parsed("llvm.yaml")
	require.NotZero(t, llvm.NumRecords())
	require.Equal(t, spelled(t, llvm), spelled(t, d.parsed("ours.yaml")))

	// llvm-profdata drops what is indexed already.
	run(t, dir, "llvm-profdata-22", "merge", "llvm", "-o", "dropped")
	require.NotContains(t, d.shown("dropped"), "HeapProfileRecords")

	// A sum of indexed, raw and YAML profiles has thrice what each has.
	require.NoError(t, d.merge("sum", "llvm", "raw", "llvm.yaml"))
	var want memprof.Profile
	for range 3 {
		require.NoError(t, want.Merge(llvm, 1))
	}
	require.Equal(t, spelled(t, &want), spelled(t, d.reread("sum")))

	// A weight is how many runs a file stands for.
	d.weights = []profile.Ratio{{Num: 2, Den: 1}, {Num: 1, Den: 1}}
	require.NoError(t, d.merge("weighted", "llvm", "raw"))
	require.Equal(t, spelled(t, &want), spelled(t, d.reread("weighted")))
	d.weights = []profile.Ratio{{Num: 3, Den: 2}}
	require.ErrorContains(t, d.merge("weighted", "llvm"), "whole weights of at least 1, not 3/2")
	d.weights = nil

	var s facts
	require.NoError(t, d.kind.Show(d.env(), d.open("sum"), true))
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &s))
	total := uint64(0)
	for a := range want.Allocs() {
		total += a.Block[memprof.TotalSize]
	}
	require.Equal(t, total, s.Bytes)
	require.NoError(t, d.kind.Show(d.env(), d.open("raw"), false))
	require.Contains(t, d.out.String(), "memory profile, raw of version 5")
	require.Empty(t, slices.Collect(check.File(d.read("sum"), check.Options{})))

	type topFunction struct {
		GUID, Name         string
		Bytes, Allocations uint64
		TotalBytes         uint64 `json:"total_bytes"`
	}
	var top struct {
		Bytes     uint64
		Functions []topFunction
	}
	require.NoError(t, d.kind.Top(d.env(), d.open("sum"), &kind.TopOptions{JSON: true, Order: "own"}))
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &top))
	require.Equal(t, total, top.Bytes)
	sum := uint64(0)
	byName := make(map[string]topFunction)
	for _, f := range top.Functions {
		sum += f.Bytes
		byName[f.Name] = f
	}
	require.Equal(t, total, sum)
	require.Equal(t, total, byName["main"].TotalBytes)
	require.Equal(t, fmt.Sprintf("%#x", memprof.GUID("main")), byName["main"].GUID, "no number: JavaScript has none of 64 bits")
	require.Equal(t, uint64(3*255), byName["_Z2mki"].Allocations)
	require.NoError(t, d.kind.Top(d.env(), d.open("sum"), &kind.TopOptions{Number: 3, Demangle: true}))
	require.Contains(t, d.out.String(), "more\n")

	require.NoError(t, d.kind.Pprof(d.env(), d.open("sum"), &kind.PprofOptions{Path: d.path("heap"), Demangle: true}))
	heap, err := pprof.ParseData(d.read("heap"))
	require.NoError(t, err)
	require.NoError(t, heap.CheckValid())
	require.Equal(t, "alloc_space", heap.DefaultSampleType)
	sum = 0
	for _, sample := range heap.Sample {
		sum += uint64(sample.Value[2])
		root := sample.Location[len(sample.Location)-1].Line
		require.Equal(t, "main", root[len(root)-1].Function.Name)
	}
	require.Equal(t, total, sum)

	require.NoError(t, d.kind.Lookup(d.env(), d.open("sum"), &kind.LookupOptions{HasSymbol: true, Symbol: "_Z2mki"}))
	one, err := memprof.ParseYAML(&d.out)
	require.NoError(t, err)
	require.Equal(t, 1, one.NumRecords())
	require.Error(t, d.kind.Lookup(d.env(), d.open("sum"), &kind.LookupOptions{HasSymbol: true, Symbol: "nowhere"}))
}

// TestSameCode checks that clang makes the same program with a profile that afdo has merged as with
// the one that llvm-profdata has merged.
func TestSameCode(t *testing.T) {
	testenv.NeedSweep(t)
	dir := trained(t, "-Wl,-z,noseparate-code")
	d := newDesk(t, dir)
	run(t, dir, "llvm-profdata-22", "merge", "--memprof-version=4", "--profiled-binary=program", "raw", "-o", "run")
	// Some that live long are cold: nothing that a test does lives so long.
	text := d.shown("run")
	text = regexp.MustCompile(`(TotalLifetime: +)0\n( +TotalLifetimeAccessDensity: ).*`).ReplaceAllString(text, "${1}900000000\n${2}0")
	require.NoError(t, os.WriteFile(d.path("in.yaml"), []byte(text), 0o600))
	run(t, dir, "llvm-profdata-22", "merge", "--memprof-version=3", "in.yaml", "-o", "llvm.profdata")
	d.convert("in.yaml", "ours.memprof", formatIndexed)
	require.NoError(t, d.merge("twice.memprof", "ours.memprof", "llvm.profdata"))
	source, err := filepath.Abs("../../../../../format/llvm/memprof/testdata/program.cc")
	require.NoError(t, err)
	compile := func(name, profile string) []byte {
		run(t, dir, "clang++-22", "-O2", "-gmlt", "-fdebug-info-for-profiling", "-c", "-fmemory-profile-use="+profile, "-mllvm", "-supports-hot-cold-new", "-mllvm", "-optimize-hot-cold-new", source, "-o", name)
		return d.read(name)
	}
	want := compile("llvm.o", "llvm.profdata")
	require.True(t, bytes.Equal(want, compile("ours.o", "ours.memprof")))
	require.True(t, bytes.Equal(want, compile("twice.o", "twice.memprof")))
	require.True(t, bytes.Contains(want, []byte("hot_cold")), "the profile has an effect")
}

// TestRefusals checks the errors for input that the verbs refuse.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	write := func(name, data string) {
		require.NoError(t, os.WriteFile(d.path(name), []byte(data), 0o600))
	}
	write("raw", memprof.RawMagic)
	write("yaml", "---\nHeapProfileRecords:\n  - GUID: f\n    Nothing: 1\n")
	for name, want := range map[string]string{
		"raw":  "memprof: header at offset 8: truncated section: version takes 8 bytes, 0 are left",
		"yaml": `memprof: line 4, column 13: bad syntax: unknown key "Nothing", not one of GUID, AllocSites, CallSites`,
	} {
		problems := slices.Collect(check.File(d.read(name), check.Options{}))
		require.Len(t, problems, 1, name)
		require.EqualError(t, problems[0].Err, want)
		require.False(t, problems[0].Remark)
	}

	write("good", "HeapProfileRecords: [ { GUID: f } ]\n")
	require.Error(t, d.kind.Top(d.env(), d.open("good"), &kind.TopOptions{Calls: true}))
	require.Error(t, d.kind.Lookup(d.env(), d.open("good"), &kind.LookupOptions{HasUnit: true}))
	require.NoError(t, d.kind.CheckFlags("v4"))
	for _, flags := range [][]string{{"--memprof-version=1"}, {"--memprof-version=5"}} {
		require.Error(t, newDesk(t, dir, flags...).kind.CheckFlags(formatIndexed))
	}
	require.Error(t, newDesk(t, dir, "--memprof-version=3").kind.CheckFlags(formatYAML))
	require.Error(t, newDesk(t, dir, "--memprof-full-schema").kind.CheckFlags("v4"))
	require.NoError(t, newDesk(t, dir, "--memprof-version=2").kind.CheckFlags(formatIndexed))
	for _, head := range []string{"", "---\n", "\xfflprofi\x81", "main:1:2\n"} {
		f, _ := anyprof.Detect([]byte(head)) // of none, the zero Format
		require.False(t, d.kind.Takes(f), "%q", head)
	}
}
