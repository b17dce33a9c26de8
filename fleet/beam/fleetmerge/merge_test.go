package fleetmerge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// command returns the path of the command afdo. The pipeline has to write the same bytes as this
// command.
var command string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "afdo-beam")
	if err != nil {
		panic(err)
	}
	command = filepath.Join(dir, "afdo")
	build := exec.Command("go", "build", "-o", command, "./cmd/afdo")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	beam.Init()
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// runMerge runs the pipeline on the runner Prism.
func runMerge(t *testing.T, o Options) error {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	if err := Merge(s, o); err != nil {
		t.Fatal(err)
	}
	_, err := prism.Execute(t.Context(), p)
	return err
}

// afdoMerge runs "afdo merge". It returns the output file, the exit status and the messages.
func afdoMerge(t *testing.T, args ...string) (data []byte, status int, said string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(command, append([]string{"merge", "-o", out}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run()
	data, _ = os.ReadFile(out)
	return data, cmd.ProcessState.ExitCode(), stderr.String()
}

// fleetOf writes a profile for each of several hosts, in different formats. Each has a part of one
// program's functions, with other counts.
func fleetOf(t *testing.T, hosts int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	whole := synth.New(synth.Options{Seed: 5, Units: 25, Functions: 250})
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range hosts {
		p := profile.New()
		part, _ := whole.KeepFunctions(func(profile.SymbolRef) bool { return rng.IntN(4) == 0 })
		p.MergeScaled(part, profile.Ratio{Num: 1 + rng.Uint64N(1000), Den: 1 + rng.Uint64N(10)})
		var file bytes.Buffer
		var err error
		if i%5 == 0 {
			_, err = gcov.Write(&file, p, gcov.WriteOptions{Version: 3})
		} else {
			err = builder.Write(&file, p, builder.Options{Compact: i%2 == 0})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("host%03d.afdo", i)), file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func requireSame(t *testing.T, want []byte, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || !bytes.Equal(want, got) {
		t.Fatalf("%d bytes differ from the %d of afdo merge", len(got), len(want))
	}
	left, _ := filepath.Glob(path + ".*")
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestMergeIsAfdoMerge merges hundreds of files. The output has the same bytes as that of afdo
// merge.
func TestMergeIsAfdoMerge(t *testing.T) {
	dir := fleetOf(t, 300)
	glob := filepath.Join(dir, "*.afdo")
	paths, err := filepath.Glob(glob)
	if err != nil {
		t.Fatal(err)
	}
	asOf := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i, path := range paths {
		fmt.Fprintf(&lines, "%s\tweight=%d/3\tage=%dh\thost=h%d\n", path, 1+i%7, 5*i, i/3)
	}
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		rules fleet.Rules
		trim  []string
		list  bool
	}{
		{name: "plain", args: []string{"--to", "v4"}},
		{name: "weights", args: []string{"--to", "v4c", "--half-life", "7d", "--scale", "1000"}, list: true,
			rules: fleet.Rules{HalfLife: 7 * 24 * time.Hour, Scale: profile.Ratio{Num: 1000, Den: 1}}},
		{name: "cap", args: []string{"--to", "v4", "--host-cap", "100000", "--half-life", "100h"}, list: true,
			rules: fleet.Rules{HalfLife: 100 * time.Hour, HostCap: 100000}},
		{name: "depth", args: []string{"--to", "v4c"}, trim: []string{"--max-depth=1", "--max-targets=2"}},
		{name: "keep", args: []string{"--to", "v4"}, trim: []string{"--strip-suffixes", "--strip-names=Z.*[13]", "--keep=90%"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rules.AsOf = asOf
			args := append(append(c.args, "--as-of", asOf.Format(time.RFC3339)), c.trim...)
			o := Options{Rules: c.rules, Trim: c.trim, Output: Output{Path: filepath.Join(t.TempDir(), "out"), ShardBytes: 20_000}}
			o.Output.Compact = c.args[1] == "v4c"
			o.DeadLetters = filepath.Join(t.TempDir(), "skipped")
			if c.list {
				if o.List, err = fleet.ReadList(list, strings.NewReader(lines.String()), asOf); err != nil {
					t.Fatal(err)
				}
				args = append(args, "@"+list)
			} else {
				o.Globs = []string{glob}
				args = append(args, paths...)
			}
			want, status, said := afdoMerge(t, args...)
			if status != 0 {
				t.Fatal(said)
			}
			if err := runMerge(t, o); err != nil {
				t.Fatal(err)
			}
			requireSame(t, want, o.Output.Path)
			if _, err := os.Stat(o.DeadLetters); err == nil {
				t.Error("dead letters of no bad file")
			}
		})
	}
}

// TestRandomRules merges with random rules and flags. The output has the same bytes as that of afdo
// merge.
func TestRandomRules(t *testing.T) {
	const inputs = 40
	paths, err := filepath.Glob(filepath.Join(fleetOf(t, inputs), "*.afdo"))
	if err != nil || len(paths) != inputs {
		t.Fatal(paths, err)
	}
	asOf := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 0xf1))
		var args []string
		may := func(flag string) bool {
			if rng.IntN(2) == 0 {
				return false
			}
			args = append(args, flag)
			return true
		}
		var o Options
		o.Rules.AsOf = asOf
		args = append(args, "--as-of="+asOf.Format(time.RFC3339))
		if hours := 1 + rng.IntN(300); may(fmt.Sprintf("--half-life=%dh", hours)) {
			o.Rules.HalfLife = time.Duration(hours) * time.Hour
		}
		if scale := 1 + rng.Uint64N(5000); may(fmt.Sprintf("--scale=%d/7", scale)) {
			o.Rules.Scale = profile.Ratio{Num: scale, Den: 7}
		}
		if most := uint64(1) << (10 + rng.IntN(30)); may(fmt.Sprint("--host-cap=", most)) {
			o.Rules.HostCap = most
		}
		trimmed := len(args)
		may("--strip-suffixes")
		may(fmt.Sprintf("--only-names=[%c-z]", 'a'+rune(rng.IntN(20))))
		may(fmt.Sprintf("--strip-names=%d$", rng.IntN(10)))
		may(fmt.Sprint("--max-depth=", rng.IntN(4)))
		may(fmt.Sprint("--max-targets=", 1+rng.IntN(3)))
		may(fmt.Sprintf("--keep=%d%%", 1+rng.IntN(100)))
		o.Trim = args[trimmed:]
		o.Output = Output{Path: filepath.Join(t.TempDir(), "out"), Compact: rng.IntN(2) == 0, ShardBytes: 1 << (8 + rng.IntN(12))}
		o.DeadLetters = filepath.Join(t.TempDir(), "skipped")
		var lines strings.Builder
		for _, path := range paths {
			fmt.Fprintf(&lines, "%s\tweight=%d/%d\tage=%dh\thost=h%d\n", path, 1+rng.IntN(9), 1+rng.IntN(9), rng.IntN(500), rng.IntN(inputs/2))
		}
		list := filepath.Join(t.TempDir(), "list")
		write(t, list, lines.String())
		if o.List, err = fleet.ReadList(list, strings.NewReader(lines.String()), asOf); err != nil {
			t.Fatal(err)
		}
		format := map[bool]string{false: "v4", true: "v4c"}[o.Output.Compact]
		want, status, said := afdoMerge(t, append(args, "--to", format, "@"+list)...)
		if status != 0 {
			t.Fatal(said)
		}
		if err := runMerge(t, o); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		requireSame(t, want, o.Output.Path)
		if t.Failed() {
			t.Fatalf("%q", args)
		}
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestBadFiles merges inputs of which some cannot be read.
func TestBadFiles(t *testing.T) {
	dir := fleetOf(t, 20)
	data, err := os.ReadFile(filepath.Join(dir, "host003.afdo"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "bad.afdo"), "no profile")
	write(t, filepath.Join(dir, "cut.afdo"), string(data[:len(data)/2]))
	write(t, filepath.Join(dir, "empty.afdo"), "")
	write(t, filepath.Join(dir, "other.afdo"), ":ir\n")
	paths, _ := filepath.Glob(filepath.Join(dir, "*"))
	want, status, said := afdoMerge(t, append(paths, "--keep-going", "--to", "v4")...)
	if status != 3 {
		t.Fatal(status, said)
	}
	// In one group or each by itself, the bad ones take no good one with them.
	for _, rules := range []fleet.Rules{{}, {HostCap: 1 << 60}} {
		var o Options
		o.Rules = rules
		for i, path := range paths {
			o.List = append(o.List, fleet.Input{Path: path, Host: fmt.Sprint("h", i/6), Weight: profile.Ratio{Num: 1, Den: 1}})
		}
		o.Output.Path = filepath.Join(t.TempDir(), "out")
		o.DeadLetters = filepath.Join(t.TempDir(), "skipped")
		if err := runMerge(t, o); err != nil {
			t.Fatal(err)
		}
		requireSame(t, want, o.Output.Path)
		letters, err := os.ReadFile(o.DeadLetters)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(letters), "\n")
		if len(lines) != 5 {
			t.Fatalf("%q", lines)
		}
		for i, name := range []string{"bad", "cut", "empty", "other"} {
			if !strings.HasPrefix(lines[i], filepath.Join(dir, name+".afdo: ")) {
				t.Errorf("%q is not about %s", lines[i], name)
			}
		}
	}
}

// TestInputsThatDoNotFit merges inputs of which some can be read, but not be written as version 4.
// These are left out. Inputs in the same bundle are not.
func TestInputsThatDoNotFit(t *testing.T) {
	for _, rules := range []fleet.Rules{{}, {HostCap: 1 << 60}} {
		dir := fleetOf(t, 20)
		glob := filepath.Join(dir, "*.afdo")
		paths, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		want, status, said := afdoMerge(t, append(paths, "--to", "v4")...)
		if status != 0 {
			t.Fatal(said)
		}
		odd := filepath.Join(dir, "host007b.afdo")
		write(t, odd, oddProfile(t))
		o := Options{Globs: []string{glob}, Rules: rules, Output: Output{Path: filepath.Join(t.TempDir(), "out")}}
		o.DeadLetters = filepath.Join(t.TempDir(), "skipped")
		if err := runMerge(t, o); err != nil {
			t.Fatal(err)
		}
		requireSame(t, want, o.Output.Path)
		letters, err := os.ReadFile(o.DeadLetters)
		if err != nil || strings.Count(string(letters), "\n") != 1 || !strings.HasPrefix(string(letters), odd+": builder: ") {
			t.Errorf("%v: %q", err, letters)
		}
	}
}

// oddProfile returns the text of a profile with a path that a version 4 file cannot contain.
func oddProfile(t *testing.T) string {
	t.Helper()
	p := profile.New()
	p.AddFunction(p.AddSymbol(p.AddUnit("a\x00.c"), "f"), profile.Function{HeadCount: 1})
	var text strings.Builder
	if err := textfmt.PrintProfile(&text, p); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestNothingToMerge checks that no output is written if no input can be read.
func TestNothingToMerge(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad.afdo"), "no profile")
	for glob, want := range map[string]string{"*.afdo": "nothing to write", "*.none": "no such file"} {
		out := filepath.Join(t.TempDir(), "out")
		err := runMerge(t, Options{Globs: []string{filepath.Join(dir, glob)}, Output: Output{Path: out}, DeadLetters: out + ".skipped"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", glob, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is an output", glob)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{},
		{Globs: []string{"x"}},
		{Globs: []string{"x"}, Output: Output{Path: "y"}},
		{Globs: []string{"nowhere://x"}, Output: Output{Path: "y"}, DeadLetters: "z"},
		{Globs: []string{"x"}, Output: Output{Path: "y"}, DeadLetters: "z", Trim: []string{"--keep=200%"}},
		{Globs: []string{"x"}, Output: Output{Path: "y"}, DeadLetters: "z", Trim: []string{"word"}},
	} {
		_, s := beam.NewPipelineWithRoot()
		if err := Merge(s, o); err == nil {
			t.Errorf("%v is taken", o)
		}
	}
}
