package instrprofkind

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

const zoo = "../../../../../format/llvm/instrprof/testdata/zoo"

// A run calls a verb of a kind and records what it prints.
type run struct {
	*Kind
	cli.Env
	out, err bytes.Buffer
}

func newRun() *run {
	r := &run{Kind: &Kind{}}
	r.Env = cli.Env{Out: &r.out, Err: &r.err}
	verb := &cobra.Command{Use: "convert"}
	verb.Flags().String("to", "", "")
	r.AddFlags(verb) // for the defaults
	return r
}

func open(t *testing.T, path string) *input.File {
	t.Helper()
	f, err := input.Open(nil, path)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	require.True(t, (&Kind{}).Takes(f.Format()), path)
	return f
}

// species returns the names of the files in the zoo, a folder of profiles from LLVM's tools and
// clang's programs.
func species(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(zoo, "*.profraw"))
	require.NoError(t, err)
	require.Greater(t, len(paths), 10)
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(path, ".profraw")
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

var to = map[string]kind.Output{
	formatText:    {Path: cli.Stdio, Format: kind.Format{Name: formatText}},
	formatIndexed: {Path: cli.Stdio, Format: kind.Format{Name: formatIndexed}},
}

// TestConvert checks that convert to proftext and profdata gives the bytes that llvm-profdata merge
// gives.
func TestConvert(t *testing.T) {
	for _, base := range species(t) {
		for _, form := range []string{".profraw", ".profdata"} {
			for name, out := range to {
				r := newRun()
				require.NoError(t, r.Convert(&r.Env, open(t, base+form), out, &trim.Flags{}))
				require.Equal(t, string(read(t, base+"."+name)), r.out.String(), base+form)
				unnamed := strings.Count(r.out.String(), "** External Symbol **") > 0
				require.Equal(t, unnamed, strings.Contains(r.err.String(), "call targets without a name"), base+form)
			}
		}
	}
}

// TestConvertTellsUniformity checks that convert reports data of a GPU's program that it leaves
// out, for each input format.
func TestConvertTellsUniformity(t *testing.T) {
	for _, form := range []string{".profraw", ".profdata"} {
		for name, out := range to {
			r := newRun()
			r.version = newestVersion
			require.NoError(t, r.Convert(&r.Env, open(t, filepath.Join(zoo, "../llvm23/gpu"+form)), out, &trim.Flags{}))
			require.Equal(t, "afdo: "+name+" does not store everything: uniformity bits of functions of a GPU that were left out: 1\n", r.err.String())
		}
	}
}

func TestConvertKeepsVTableNames(t *testing.T) {
	r := newRun()
	r.vtableNames = true
	require.NoError(t, r.Convert(&r.Env, open(t, filepath.Join(zoo, "vtables.profraw")), to[formatText], &trim.Flags{}))
	require.Contains(t, r.out.String(), "\n_ZTV1A:46\n")

	r = newRun()
	r.version = 12
	require.NoError(t, r.Convert(&r.Env, open(t, filepath.Join(zoo, "ir.profraw")), to[formatIndexed], &trim.Flags{}))
	reader, err := instrprof.OpenBytes(r.out.Bytes())
	require.NoError(t, err)
	require.Equal(t, uint32(12), reader.Header().Version)
}

func TestFlags(t *testing.T) {
	r := newRun()
	require.NoError(t, r.CheckFlags(formatIndexed))
	require.NoError(t, r.CheckFlags("v4"))
	for _, c := range []struct {
		set    func(*Kind)
		format string
	}{
		{func(k *Kind) { k.version = 12 }, formatText},
		{func(k *Kind) { k.version = 4 }, formatIndexed},
		{func(k *Kind) { k.version = 15 }, formatIndexed},
		{func(k *Kind) { k.sparse = true }, "v4"},
		{func(k *Kind) { k.vtableNames = true }, "v4"},
	} {
		r := newRun()
		c.set(r.Kind)
		var usage *cli.UsageError
		require.ErrorAs(t, r.CheckFlags(c.format), &usage)
	}
}

// TestMerge merges files of all formats with weights, including compressed files and standard
// input.
func TestMerge(t *testing.T) {
	raw := read(t, filepath.Join(zoo, "ir.profraw"))
	packed := filepath.Join(t.TempDir(), "ir.gz")
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, err := w.Write(raw)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(packed, gz.Bytes(), 0o666))

	paths := []string{filepath.Join(zoo, "ir.profdata"), packed, cli.Stdio, filepath.Join(zoo, "ir.proftext")}
	m := kind.Merge{
		Weights: []profile.Ratio{{Num: 3, Den: 1}, {Num: 1, Den: 1}, {Num: 2, Den: 1}, {Num: 4, Den: 2}},
		Open:    func(i int) (*input.File, error) { return input.Open(bytes.NewReader(raw), paths[i]) },
		Say:     func(string, ...any) {},
		Out:     to[formatIndexed],
		Trim:    &trim.Flags{},
		Skip:    func(int, error) bool { return false },
		Limit:   func(uint64, uint64) error { return nil },
	}
	r := newRun()
	require.NoError(t, r.Merge(&r.Env, &m))
	sum, err := instrprof.OpenBytes(r.out.Bytes())
	require.NoError(t, err)
	one, err := instrprof.Open(paths[0])
	require.NoError(t, err)
	defer one.Close()
	require.Equal(t, 8*one.Summary().TotalCount, sum.Summary().TotalCount)

	m.Weights[0] = profile.Ratio{Num: 1, Den: 2}
	var usage *cli.UsageError
	require.ErrorAs(t, r.Merge(&r.Env, &m), &usage)
}

// TestShow compares the figures of show with those of llvm-profdata.
func TestShow(t *testing.T) {
	profdata := llvmProfdata(t)
	figure := regexp.MustCompile(`(?m)^(Total functions|Maximum function count|Maximum internal block count|Total number of blocks|Total count): (\d+)$`)
	entry := regexp.MustCompile(`(?m)^(\d+) blocks \S+ with count >= (\d+) account for (\S+)% of`)
	for i, base := range species(t) {
		if i%8 != 0 && !testenv.Sweep() {
			continue
		}
		for _, form := range []string{".profraw", ".profdata"} {
			out, err := exec.Command(profdata, "show", "--detailed-summary", base+form).Output()
			require.NoError(t, err)
			r := newRun()
			require.NoError(t, r.Show(&r.Env, open(t, base+form), true))
			var facts ShowFacts
			require.NoError(t, json.Unmarshal(r.out.Bytes(), &facts))
			s := facts.Summary
			var want, got []string
			for _, m := range figure.FindAllStringSubmatch(string(out), -1) {
				want = append(want, m[2])
			}
			for _, n := range []uint64{s.NumFunctions, s.MaxFunctionCount, s.MaxInternalCount, s.NumCounts, s.TotalCount} {
				got = append(got, fmt.Sprint(n))
			}
			for _, m := range entry.FindAllStringSubmatch(string(out), -1) {
				want = append(want, m[1], m[2], m[3])
			}
			for _, x := range s.Entries {
				share := strconv.FormatFloat(float64(x.Cutoff)/1e4, 'f', -1, 64)
				got = append(got, fmt.Sprint(x.NumCounts), fmt.Sprint(x.MinCount), share)
			}
			require.Equal(t, want, got, base+form)

			text := newRun()
			require.NoError(t, text.Show(&text.Env, open(t, base+form), false))
			require.Contains(t, text.out.String(), "Total count")
		}
	}
}

func llvmProfdata(t *testing.T) string {
	t.Helper()
	return testenv.Tool(t, "/usr/lib/llvm-22/bin/llvm-profdata", "llvm-profdata-22")
}

// TestLookup checks that lookup prints of a function what the text of the whole file contains.
func TestLookup(t *testing.T) {
	for _, base := range species(t) {
		text := string(read(t, base+".proftext"))
		start := strings.Index(text, "\nmain\n") + 1
		for _, form := range []string{".profdata", ".profraw", ".proftext"} {
			r := newRun()
			o := kind.LookupOptions{Symbol: "main", HasSymbol: true}
			require.NoError(t, r.Lookup(&r.Env, open(t, base+form), &o))
			_, record, _ := strings.Cut(r.out.String(), "main\n")
			require.True(t, strings.HasPrefix(text[start:], "main\n"+record), base+form)

			o.JSON = true
			r = newRun()
			require.NoError(t, r.Lookup(&r.Env, open(t, base+form), &o))
			var facts LookupFacts
			require.NoError(t, json.Unmarshal(r.out.Bytes(), &facts))
			require.Len(t, facts.Records, 1)

			r.hash = facts.Records[0].Hash
			require.NoError(t, r.Lookup(&r.Env, open(t, base+form), &o))
			r.hash = "1"
			require.ErrorIs(t, r.Lookup(&r.Env, open(t, base+form), &o), afdo.ErrNotFound)
			o.Symbol = "nobody"
			require.ErrorIs(t, r.Lookup(&r.Env, open(t, base+form), &o), afdo.ErrNotFound)
		}
	}
}

// TestCheck checks that files which LLVM has written have no faults, and that truncated ones do.
func TestCheck(t *testing.T) {
	check := func(path string) []afdo.Problem {
		return slices.Collect(check.File(read(t, path), check.Options{}))
	}
	for _, base := range species(t) {
		for _, form := range []string{".profdata", ".profraw", ".proftext"} {
			require.Empty(t, check(base+form))
			cut := filepath.Join(t.TempDir(), "cut"+form)
			data := read(t, base+form)
			if form == ".proftext" {
				data = append(data, "g\n"...)
			} else {
				data = data[:len(data)-9]
			}
			require.NoError(t, os.WriteFile(cut, data, 0o666))
			problems := check(cut)
			require.NotEmpty(t, problems, base+form)
			require.False(t, problems[0].Remark)
		}
	}
}

// TestDiff compares the overlaps of diff with those of llvm-profdata.
func TestDiff(t *testing.T) {
	profdata := llvmProfdata(t)
	figure := regexp.MustCompile(`(?m)^  (Edge|IndirectCall|MemOP) profile overlap: (\S+)%$`)
	for _, pair := range [][2]string{{"ir", "entry-first"}, {"ir-cpp", "vtables"}, {"mcdc", "frontend"}, {"ir", "loop-entries"}, {"ir", "ir-cpp"}}[:testenv.Rounds(3, 5)] {
		a, b := filepath.Join(zoo, pair[0]+".profdata"), filepath.Join(zoo, pair[1]+".profdata")
		out, err := exec.Command(profdata, "overlap", a, b).Output()
		require.NoError(t, err)
		r := newRun()
		differ, err := r.Diff(&r.Env, [2]*input.File{open(t, a), open(t, b)}, &kind.DiffOptions{JSON: true})
		require.NoError(t, err)
		var facts DiffFacts
		require.NoError(t, json.Unmarshal(r.out.Bytes(), &facts))
		got := map[string]float64{"Edge": facts.Overlap, "IndirectCall": facts.Values[0].Overlap, "MemOP": facts.Values[1].Overlap}
		found := figure.FindAllStringSubmatch(string(out), -1)
		require.NotEmpty(t, found)
		for _, m := range found {
			require.Equal(t, m[2], fmt.Sprintf("%.3f", 100*got[m[1]]), "%v %s", pair, m[1])
		}
		require.Equal(t, facts.Lost+facts.Gained+facts.Changed > 0, differ)

		same := newRun()
		differ, err = same.Diff(&same.Env, [2]*input.File{open(t, a), open(t, a)}, &kind.DiffOptions{})
		require.NoError(t, err)
		require.False(t, differ)
		require.Equal(t, "The profiles say the same.\n", same.out.String())
	}
}

func TestTop(t *testing.T) {
	r := newRun()
	f := filepath.Join(zoo, "ir-cpp.profraw")
	require.NoError(t, r.Top(&r.Env, open(t, f), &kind.TopOptions{JSON: true, Number: 2, Demangle: true}))
	var facts TopFacts
	require.NoError(t, json.Unmarshal(r.out.Bytes(), &facts))
	require.Len(t, facts.Functions, 2)
	require.Equal(t, "main", facts.Functions[0].Name)
	require.Equal(t, "call(Base*, int)", facts.Functions[1].Demangled)
	p, err := instrprof.Load(f)
	require.NoError(t, err)
	require.Equal(t, p.Summary().TotalCount, facts.Total)

	r = newRun()
	require.NoError(t, r.Top(&r.Env, open(t, f), &kind.TopOptions{Number: 1}))
	require.Contains(t, r.out.String(), "more\n")
	var usage *cli.UsageError
	require.ErrorAs(t, r.Top(&r.Env, open(t, f), &kind.TopOptions{Calls: true}), &usage)
}

const allocations = `HeapProfileRecords:
  - GUID: 0x1
    AllocSites:
      - Callstack:
          - { Function: 0x1, LineOffset: 1, Column: 2, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 3
          TotalSize: 10
          TotalLifetime: 5
          TotalLifetimeAccessDensity: 6
    CallSites: []
`

// TestTopVersions checks that top prints records which differ only in the hash so that they can be
// distinguished.
func TestTopVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "versions.proftext")
	require.NoError(t, os.WriteFile(path, []byte("f\n1\n1\n5\n\nf\n2\n1\n6\n\ng\n2\n1\n1\n"), 0o666))
	r := newRun()
	require.NoError(t, r.Top(&r.Env, open(t, path), &kind.TopOptions{}))
	require.Regexp(t, `  f  hash 0x2\n.*  f  hash 0x1\n.*  g\n$`, r.out.String())
}

// A text cannot store the hash of a call target whose name the profile does not have. That is said.
func TestTargetsWithoutName(t *testing.T) {
	var p instrprof.Profile
	sites := instrprof.ValueSites{instrprof.IndirectCallTarget: {{{Value: 0, Count: 1}, {Value: 7, Count: 2}, {Value: instrprof.NameHash("f"), Count: 3}}, {{Value: 9, Count: 4}}}}
	f, err := instrprof.NewRecord("f", 1, []uint64{5}, nil, sites)
	require.NoError(t, err)
	require.NoError(t, p.Add(f, 1))
	var file bytes.Buffer
	require.NoError(t, p.WriteIndexed(&file, instrprof.IndexedOptions{}))
	path := filepath.Join(t.TempDir(), "targets.profdata")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
	r := newRun()
	require.NoError(t, r.Convert(&r.Env, open(t, path), to[formatText], &trim.Flags{}))
	require.Equal(t, "afdo: proftext does not store everything: hashes of call targets without a name that were left out: 2\n", r.err.String())
}

func TestMemoryProfilesAreKept(t *testing.T) {
	memory, err := memprof.ParseYAML(strings.NewReader(allocations))
	require.NoError(t, err)
	section := func(offset int64) ([]byte, error) { return memory.Section(3, offset) }
	p, err := instrprof.Load(filepath.Join(zoo, "ir.profraw"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "both.profdata")
	var both bytes.Buffer
	require.NoError(t, p.WriteIndexed(&both, instrprof.IndexedOptions{MemProf: section}))
	require.NoError(t, os.WriteFile(path, both.Bytes(), 0o666))

	allocs := func(data []byte) (n uint64) {
		r, err := instrprof.OpenBytes(data)
		require.NoError(t, err)
		section, offset, err := r.MemProf()
		require.NoError(t, err)
		m, err := memprof.OpenBytes(section, offset)
		require.NoError(t, err)
		for rec, err := range m.Records() {
			require.NoError(t, err)
			for _, a := range rec.Allocs {
				n += a.Block[memprof.AllocCount]
			}
		}
		return n
	}
	for _, stdin := range []bool{false, true} {
		r := newRun()
		f := open(t, path)
		if stdin {
			f, err = input.New("x", bytes.NewReader(both.Bytes()))
			require.NoError(t, err)
		}
		require.NoError(t, r.Convert(&r.Env, f, to[formatIndexed], &trim.Flags{}))
		require.Equal(t, uint64(3), allocs(r.out.Bytes()))
	}
	r := newRun()
	require.NoError(t, r.Convert(&r.Env, open(t, path), to[formatText], &trim.Flags{}))
	require.Contains(t, r.err.String(), "MemProf sections that were left out: 1")

	m := kind.Merge{
		Weights: []profile.Ratio{{Num: 1, Den: 1}, {Num: 1, Den: 1}},
		Open:    func(int) (*input.File, error) { return input.Open(nil, path) },
		Say:     func(string, ...any) {},
		Out:     to[formatIndexed],
		Trim:    &trim.Flags{},
		Skip:    func(int, error) bool { return false },
		Limit:   func(uint64, uint64) error { return nil },
	}
	r = newRun()
	require.NoError(t, r.Merge(&r.Env, &m))
	require.Equal(t, uint64(6), allocs(r.out.Bytes()))
}

// TestHashesOfAllBits checks records whose hashes use all bits, as those of Rust do. show counts
// those that LLVM takes for context-sensitive, and check reports that the summary does not.
func TestHashesOfAllBits(t *testing.T) {
	text := "f\n1\n2\n30\n40\n\ng\n1152921504606846977\n1\n1000\n"
	path := filepath.Join(t.TempDir(), "rust.profdata")
	from := filepath.Join(t.TempDir(), "rust.proftext")
	require.NoError(t, os.WriteFile(from, []byte(text), 0o666))
	r := newRun()
	require.NoError(t, r.Convert(&r.Env, open(t, from), to[formatIndexed], &trim.Flags{}))
	require.NoError(t, os.WriteFile(path, r.out.Bytes(), 0o666))
	theirs := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, exec.Command(llvmProfdata(t), "merge", "-o", theirs, from).Run())
	require.Equal(t, read(t, theirs), r.out.Bytes(), "the summary of the file is LLVM's")
	for _, file := range []string{path, from} {
		r := newRun()
		require.NoError(t, r.Show(&r.Env, open(t, file), true))
		var facts ShowFacts
		require.NoError(t, json.Unmarshal(r.out.Bytes(), &facts))
		require.Equal(t, uint64(2), facts.Summary.NumFunctions)
		require.Equal(t, uint64(1070), facts.Summary.TotalCount)
		require.Equal(t, uint64(1000), facts.Summary.MaxFunctionCount)
		require.Nil(t, facts.CS)
	}
	file, err := instrprof.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var problems []afdo.Problem
	for p := range file.Check() {
		problems = append(problems, p)
	}
	require.Len(t, problems, 1)
	require.True(t, problems[0].Remark)
	require.ErrorContains(t, problems[0].Err, "as if they were context-sensitive: bit 60 of their hashes is set, which the hashes of a front end may have: 1 of 2")
}

// TestIndexedVersion checks that --indexed-version writes files for the LLVM that reads this
// version, and that losses are reported.
func TestIndexedVersion(t *testing.T) {
	r := newRun()
	r.version = 8
	require.NoError(t, r.Convert(&r.Env, open(t, filepath.Join(zoo, "temporal.profraw")), to[formatIndexed], &trim.Flags{}))
	require.Contains(t, r.err.String(), "profdata of version 8 does not store everything: temporal traces that were left out: 1\n")
	reader, err := instrprof.OpenBytes(r.out.Bytes())
	require.NoError(t, err)
	require.Equal(t, uint32(8), reader.Header().Version)
}
