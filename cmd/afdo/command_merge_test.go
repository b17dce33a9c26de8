package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// mergeNaive adds p to sum, independently of the code under test.
func mergeNaive(sum, p *naive.Profile) {
	for k := range p.Symbols {
		sum.Symbols[k] = true
	}
	for k, f := range p.Functions {
		g := sum.Functions[k]
		if g == nil {
			g = &naive.Function{Body: newNaiveBody()}
			sum.Functions[k] = g
		}
		g.Head = saturate(g.Head, f.Head)
		if g.Timestamp == 0 || f.Timestamp > 0 && f.Timestamp < g.Timestamp {
			g.Timestamp = f.Timestamp
		}
		mergeNaiveBody(g.Body, f.Body)
	}
}

func newNaiveBody() *naive.Body {
	return &naive.Body{
		Counts:  map[naive.Place]uint64{},
		Calls:   map[naive.Place]map[naive.Key]uint64{},
		Inlined: map[naive.Place]map[naive.Key]*naive.Body{},
	}
}

func mergeNaiveBody(sum, b *naive.Body) {
	for at, n := range b.Counts {
		sum.Counts[at] = saturate(sum.Counts[at], n)
	}
	for at, calls := range b.Calls {
		if sum.Calls[at] == nil {
			sum.Calls[at] = map[naive.Key]uint64{}
		}
		for callee, n := range calls {
			sum.Calls[at][callee] = saturate(sum.Calls[at][callee], n)
		}
	}
	for at, inlined := range b.Inlined {
		if sum.Inlined[at] == nil {
			sum.Inlined[at] = map[naive.Key]*naive.Body{}
		}
		for callee, body := range inlined {
			if sum.Inlined[at][callee] == nil {
				sum.Inlined[at][callee] = newNaiveBody()
			}
			mergeNaiveBody(sum.Inlined[at][callee], body)
		}
	}
}

func saturate(x, y uint64) uint64 {
	if x+y < x {
		return 1<<64 - 1
	}
	return x + y
}

func emptyNaive() *naive.Profile {
	return &naive.Profile{Symbols: map[naive.Key]bool{}, Functions: map[naive.Key]*naive.Function{}}
}

// requireNaive checks that a version 4 file decodes to the wanted profile, with its summary.
func requireNaive(t *testing.T, want *naive.Profile, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := naive.Decode(data)
	require.NoError(t, err)
	got, err := file.Canonical()
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(want.Symbols, got.Symbols), "symbols differ")
	require.True(t, reflect.DeepEqual(want.Functions, got.Functions), "functions differ")
	require.Equal(t, want.Summarize(), file.Summarize())
}

func TestMergeRandomFilesAgainstNaive(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0x6d))
		sum := emptyNaive()
		args := []string{"merge", "-o", out, "--to", []string{"v4", "v4c"}[seed%2]}
		for i := range 1 + rng.IntN(5) {
			data, truth := gen.Random(rng, gen.All())
			path := filepath.Join(dir, fmt.Sprint(i))
			require.NoError(t, os.WriteFile(path, data, 0o666))
			p, err := truth.Canonical()
			require.NoError(t, err)
			weight := rng.IntN(3)
			for range weight {
				mergeNaive(sum, p)
			}
			if weight > 0 {
				args = append(args, fmt.Sprintf("%s=%d", path, weight))
			}
		}
		if len(args) == 5 {
			continue
		}
		r := afdoRun(args...)
		require.Equal(t, cli.StatusDone, r.status, "seed %d: %s", seed, r.err)
		requireNaive(t, sum, out)
	}
}

// TestMergeCorpus compares the merge of real profiles with a sum that the test computes itself.
func TestMergeCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	sum := emptyNaive()
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"merge", "-o", out}
	for _, name := range []string{"libgui.v3", "libart_arm.v3", "keystore2.v3"} {
		path := testenv.Corpus(t, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := naive.DecodeV3(data)
		require.NoError(t, err)
		p, err := file.Canonical()
		require.NoError(t, err)
		mergeNaive(sum, p)
		args = append(args, path)
	}
	must(t, append(args, "--to", "v4c")...)
	requireNaive(t, sum, out)
}

// TestMergeFormats merges the example in each format that can store all of it, and writes the sum
// in each of these formats.
func TestMergeFormats(t *testing.T) {
	dir := t.TempDir()
	inputs := []string{example(".txt"), example(".afdo"), example(".compact.afdo") + "=2", example(".v3.afdo")}
	for _, format := range []string{"v4", "v4c", "v3", "v2", "text"} {
		var first []byte
		for i := range 4 {
			out := filepath.Join(dir, "out")
			args := append([]string{"merge", "--to", format, "-o", out}, inputs[i:]...)
			r := afdoRun(append(args, inputs[:i]...)...) // in another order
			require.Equal(t, cli.StatusDone, r.status, r.err)
			got, err := os.ReadFile(out)
			require.NoError(t, err)
			if i == 0 {
				first = got
			}
			require.True(t, bytes.Equal(first, got), "the order of the inputs shows in %s", format)
		}
	}
	e := newEnv(cli.Env{})
	once, err := loadProfile(e, example(".txt"))
	require.NoError(t, err)
	want := profile.New()
	for range 5 {
		want.Merge(once)
	}
	for _, format := range []string{"v4", "v4c", "v3", "text"} {
		out := filepath.Join(dir, format)
		must(t, append([]string{"merge", "--to", format, "-o", out}, inputs...)...)
		got, err := loadProfile(e, out)
		require.NoError(t, err)
		assert.NoError(t, profile.Compare(want, got))
		assert.Equal(t, want.Summarize(), got.Summary)
	}
}

func TestMergeKnowsUnitsApart(t *testing.T) {
	dir := t.TempDir()
	mixed := filepath.Join(dir, "mixed")
	r := afdoRun("merge", example(".v2.afdo"), example(".afdo"), "--to", "v4", "-o", mixed)
	assert.Equal(t, result{err: "afdo: v2 inputs know no units: their functions stay apart from those of known units: 1 of 2 inputs\n"}, r)
	p, err := loadProfile(newEnv(cli.Env{}), mixed)
	require.NoError(t, err)
	assert.Equal(t, 16, p.NumFunctions())

	alike := filepath.Join(dir, "alike")
	must(t, "merge", example(".v2.afdo"), example(".v2.afdo"), "--to", "v4", "-o", alike)
	p, err = loadProfile(newEnv(cli.Env{}), alike)
	require.NoError(t, err)
	assert.Equal(t, 8, p.NumFunctions())
}

func TestMergeLists(t *testing.T) {
	dir := t.TempDir()
	shop, err := filepath.Abs(example(".afdo"))
	require.NoError(t, err)
	list := filepath.Join(dir, "list")
	require.NoError(t, os.WriteFile(list, []byte("# inputs\r\n\r\n  "+shop+"=2 \r\n"+shop+"\n\n#end"), 0o666))
	want := must(t, "merge", "--to", "text", shop+"=9")
	assert.Equal(t, must(t, "merge", "--to", "text", shop+"=6"), must(t, "merge", "--to", "text", "@"+list, "--input-list", list))
	assert.Equal(t, want, must(t, "merge", "--to", "text", "@"+list, "--input-list", list, "--input-list", list))
	r := afdoWith(strings.NewReader(shop), "merge", "--to", "text", "@-", shop+"=8")
	assert.Equal(t, result{out: want}, r)
}

func TestMergeErrors(t *testing.T) {
	shop := example(".afdo")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	bad, list := write("bad", "no profile"), write("list", "\n"+shop+"=0\n")
	empty := write("empty", "# none\n")
	out := write("out", "before")
	for _, c := range []struct {
		args   []string
		status int
		err    string
	}{
		{[]string{}, cli.StatusUsage, "missing argument IN: afdo merge [-o OUT] [--to FORMAT] IN[=WEIGHT]..."},
		{[]string{"@" + empty}, cli.StatusUsage, "missing argument IN: afdo merge [-o OUT] [--to FORMAT] IN[=WEIGHT]..."},
		{[]string{shop + "=0"}, cli.StatusUsage, `weight of ` + shop + `: bad ratio "0": want more than 0`},
		{[]string{shop + "=1/0"}, cli.StatusUsage, `weight of ` + shop + `: bad ratio "1/0": want a number like 3, 0.5, 3/4 or 99.99%`},
		{[]string{shop + "=half"}, cli.StatusUsage, `weight of ` + shop + `: want a number like 3, 0.5, 3/4 or 50%, not "half"`},
		{[]string{shop + "="}, cli.StatusUsage, `weight of ` + shop + `: want a number like 3, 0.5, 3/4 or 50%, not ""`},
		{[]string{"-", "-"}, cli.StatusUsage, "standard input can be read only once"},
		{[]string{"-", "@-"}, cli.StatusUsage, "standard input can be read only once"},
		{[]string{"--input-list", "-", "--", "-=2"}, cli.StatusUsage, "standard input can be read only once"},
		{[]string{shop, "--keep", "101%"}, cli.StatusUsage, `invalid argument "101%" for "--keep" flag: want at most 100%`},
		{[]string{shop, "--keep", "99.99"}, cli.StatusUsage, `invalid argument "99.99" for "--keep" flag: want at most 100%`},
		{[]string{shop, "--only-names", "("}, cli.StatusUsage, "invalid argument \"(\" for \"--only-names\" flag: error parsing regexp: missing closing ): `(`"},
		{[]string{shop, "--max-depth", "-1"}, cli.StatusUsage, `invalid argument "-1" for "--max-depth" flag: want a number`},
		{[]string{"@no such list"}, cli.StatusFault, "open no such list: no such file or directory"},
		{[]string{shop, "no such file=2"}, cli.StatusFault, "open no such file: no such file or directory"},
		{[]string{shop, shop, bad, "no such file"}, cli.StatusFault, bad + `: not a profile: it begins with "no profile"`},
		{[]string{"@" + list}, cli.StatusFault, list + `:2: weight of ` + shop + `: bad ratio "0": want more than 0`},
	} {
		t.Run(c.err, func(t *testing.T) {
			r := afdoRun(append([]string{"merge", "--to", "v4", "-o", out}, c.args...)...)
			assert.Equal(t, c.status, r.status, "%q", c.args)
			first, _, _ := strings.Cut(r.err, "\n")
			assert.Equal(t, "afdo: "+c.err, first, "%q", c.args)
			clitest.RequireFile(t, out, "before")
		})
	}
}

// TestMergeSaysWhatIsLeftOut merges files with sections and records that the RFC does not define,
// and checks that merge reports their loss.
func TestMergeSaysWhatIsLeftOut(t *testing.T) {
	said := 0
	for seed := range uint64(30) {
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 7)), gen.All())
		path := writeFile(t, "in", data)
		f, err := input.New("in", bytes.NewReader(data))
		require.NoError(t, err)
		l, err := new(gcovkind.Kind).Load(f)
		require.NoError(t, err)
		losses, err := l.Losses()
		require.NoError(t, err)
		want := ""
		for _, loss := range losses {
			if loss.N > 0 {
				want += fmt.Sprintf("afdo: %s that were left out: %d\n", loss.What, 2*loss.N)
			}
		}
		if l.Profile.NumFunctions() == 0 {
			want += strings.Repeat("afdo: "+path+": no counts\n", 2)
		}
		r := afdoRun("merge", path, path, "--to", "v4", "-o", filepath.Join(t.TempDir(), "out"))
		require.Equal(t, result{err: want}, r)
		said += len(want)
	}
	assert.NotZero(t, said)
}

// TestMergeAlignUnits merges profiles of one program that was built in three folders, with
// --align-units.
func TestMergeAlignUnits(t *testing.T) {
	dir := t.TempDir()
	build := func(name, folder string) string {
		path := filepath.Join(dir, name)
		text := `filenames = { "` + folder + `lib/a.c", "` + folder + `main.c" }
summary = { total_count = 15, max_count = 10, max_fn_count = 3, num_counts = 2, num_functions = 2, num_detailed_entries = 0, detailed_entries = { } }
"f":0(3:10:0) = { locations = { 1 = 10 } }
"main":1(1:5:0) = { locations = { 1 = 5 } }
`
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	one, two, three := build("one.txt", "/home/one/"), build("two.txt", "/build/two/"), build("three.txt", "")
	units := func(args ...string) (string, string) {
		out := filepath.Join(dir, "out.v4")
		r := afdoRun(append([]string{"merge", "-o", out, one, two, three + "=3"}, args...)...)
		require.Zero(t, r.status, r.err)
		return must(t, "units", out, "--sort", "path"), r.err
	}
	apart, said := units()
	assert.Equal(t, 7, strings.Count(apart, "\n")-1, apart)
	assert.Empty(t, said)
	together, said := units("--align-units")
	assert.Contains(t, together, "50  /home/one/lib/a.c\n")
	assert.Contains(t, together, "25  /home/one/main.c\n")
	assert.Equal(t, 3, strings.Count(together, "\n")-1, together)
	assert.Equal(t, "afdo: units of other paths that are units of "+one+": 4\n", said)

	text, err := os.Open(one)
	require.NoError(t, err)
	defer text.Close()
	again := filepath.Join(dir, "again.v4")
	r := afdoWith(text, "merge", "-o", again, "--align-units", "-", two, three+"=3")
	require.Zero(t, r.status, r.err)
	assert.Equal(t, together, must(t, "units", again, "--sort", "path"), "standard input can be the first")

	cut := filepath.Join(dir, "cut.v4")
	require.NoError(t, os.WriteFile(cut, mustRead(t, again)[:60], 0o666))
	r = afdoRun("merge", "-o", again, "--align-units", "--keep-going", cut, one, two, three+"=3")
	assert.Equal(t, cli.StatusPartial, r.status, r.err)
	assert.Contains(t, r.err, "units of other paths that are units of "+one+": 4\n", "the first that can be read")
	assert.Equal(t, together, must(t, "units", again, "--sort", "path"))
	r = afdoRun("merge", "-o", again, "--align-units", "--keep-going", cut, cut)
	assert.Equal(t, cli.StatusFault, r.status, r.err)
	assert.Contains(t, r.err, "all of 2 inputs were skipped")

	heap := writeFile(t, "heap", []byte(heapYAML))
	r = afdoRun("merge", "--align-units", "--to", "yaml", heap, heap)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "--align-units is for profiles that have units, not for memory profiles")
}
