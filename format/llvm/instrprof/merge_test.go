package instrprof_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// merged merges files of a folder. It returns the profile and the mismatches.
func merged(t testing.TB, dir string, inputs ...instrprof.Input) (*instrprof.Profile, []instrprof.Mismatch) {
	t.Helper()
	paths := slices.Clone(inputs)
	for i := range paths {
		paths[i].Path = filepath.Join(dir, paths[i].Path)
	}
	p, dropped, err := instrprof.MergeFiles(paths, instrprof.MergeOptions{Goroutines: 3})
	require.NoError(t, err)
	p.VTableNames = nil
	return p, dropped
}

// TestMergeOfMixedForms merges raw files, indexed files and texts of one program with weights, and
// compares the sum with llvm-profdata.
func TestMergeOfMixedForms(t *testing.T) {
	tool(t, "llvm-profdata")
	for _, s := range testenv.Some(zoo, testenv.Rounds(1, 7)) {
		var inputs []instrprof.Input
		var args []string
		for i, form := range []string{".profraw", ".profdata", ".proftext"} {
			in := instrprof.Input{Path: s.name + form, Weight: uint64(1 + 2*i)}
			inputs = append(inputs, in)
			args = append(args, fmt.Sprintf("--weighted-input=%d,%s", in.Weight, in.Path))
		}
		if strings.Contains(s.name, "vtables") { // text has no names for their targets, which LLVM does not weigh then
			inputs, args = inputs[:1], args[:1]
		}
		p, dropped := merged(t, zooDir, inputs...)
		require.Empty(t, dropped)
		require.Equal(t, llvmText(t, zooDir, args...), asText(t, p), s.name)
		require.Equal(t, string(llvmIndexed(t, zooDir, args...)), string(asIndexed(t, p)), s.name)
	}
}

// texts are pairs of profiles. Each tests one rule of merging.
var texts = map[string][]string{
	"counters add up":              {"f\n1\n2\n3\n4\n", "f\n1\n2\n5\n6\n"},
	"hashes are apart":             {"f\n1\n2\n3\n4\n", "f\n2\n2\n5\n6\n"},
	"sums saturate":                {"f\n1\n2\n3\n18446744073709551612\n", "f\n1\n2\n5\n18446744073709551612\n"},
	"hot wins":                     {"f\n1\n2\n18446744073709551614\n7\n", "f\n1\n2\n18446744073709551615\n9\n"},
	"hot stays":                    {"f\n1\n2\n18446744073709551615\n7\n", "f\n1\n2\n18446744073709551614\n9\n"},
	"pseudo beside real":           {"f\n1\n2\n18446744073709551615\n7\n", "f\n1\n2\n4\n9\n"},
	"real beside pseudo":           {"f\n1\n2\n4\n7\n", "f\n1\n2\n18446744073709551615\n9\n"},
	"bitmaps are united":           {"f\n1\n1\n4\n$2\n0x1\n0x30\n", "f\n1\n1\n4\n$2\n0x82\n0x3\n"},
	"another number of counters":   {"f\n1\n1\n4\n", "f\n1\n2\n4\n5\n"},
	"another number of bytes":      {"f\n1\n1\n4\n$1\n0x1\n1\n1\n1\n1\n2:3\n", "f\n1\n1\n4\n$2\n0x82\n0x3\n1\n1\n1\n1\n2:3\n"},
	"another number of sites":      {"f\n1\n1\n4\n2\n0\n1\n1\nf:3\n1\n1\n1\n7:8\n", "f\n1\n1\n4\n2\n0\n2\n1\nf:3\n0\n1\n1\n1\n7:8\n"},
	"values by count":              {"f\n1\n1\n4\n1\n1\n1\n3\n7:1\n9:3\n8:2\n", "f\n1\n1\n4\n1\n1\n1\n3\n5:1\n8:2\n7:3\n"},
	"external symbols":             {"f\n1\n1\n4\n1\n0\n1\n3\n** External Symbol **:5\ng:4\n** External Symbol **:2\n", "g\n1\n1\n4\n"},
	"values of one file in a tie":  {"f\n1\n1\n4\n1\n1\n1\n3\n9:1\n7:1\n8:1\n"},
	"values of two files in a tie": {"f\n1\n1\n4\n1\n1\n1\n3\n9:1\n7:1\n8:1\n", "f\n1\n1\n4\n1\n1\n1\n3\n6:2\n9:1\n8:1\n"},
	"context-sensitive":            {":csir\nf\n1152921504606846977\n1\n4\nf\n1\n1\n5\n", ":ir\nf\n1152921504606846977\n1\n40\n"},
	"traces":                       {":ir\n:temporal_prof_traces\n2\n3\n1\ng,f,\n4\nf,\nf\n1\n1\n3\ng\n1\n1\n3\n", ":ir\n:temporal_prof_traces\n1\n1\n6\nf,\nf\n1\n1\n3\n"},
	"headers":                      {":IR\n:entry_first\n:instrument_loop_entries\nf\n0x10\n1\n3\n", ":ir\n:not_entry_first\nf\n020\n1\n3\n"},
}

func TestMergeRules(t *testing.T) {
	tool(t, "llvm-profdata")
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		parts := texts[name]
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var inputs []instrprof.Input
			args := []string{"--num-threads=1"}
			for i, part := range parts {
				file := fmt.Sprintf("%d.proftext", i)
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(part), 0o666))
				inputs = append(inputs, instrprof.Input{Path: file, Weight: 1})
				args = append(args, file)
			}
			p, dropped := merged(t, dir, inputs...)
			if i%6 == 0 || testenv.Sweep() {
				require.Equal(t, llvmText(t, dir, args...), asText(t, p))
			}
			if strings.Contains(name, "another") || strings.Contains(name, "beside") {
				require.Len(t, dropped, 1)
				require.ErrorIs(t, dropped[0].Err, instrprof.ErrMismatch)
				require.Equal(t, 1, dropped[0].Input)
			} else {
				require.Empty(t, dropped)
			}
		})
	}
}

// TestMergeWeighsNewValues checks a defect of llvm-profdata that this package does not copy: it
// does not multiply the count of a value by the weight if no earlier input has the value.
func TestMergeWeighsNewValues(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("f\n1\n1\n4\n1\n1\n1\n1\n7:1\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("f\n1\n1\n4\n1\n1\n1\n2\n7:1\n9:1\n"), 0o666))
	p, _ := merged(t, dir, instrprof.Input{Path: "a", Weight: 1}, instrprof.Input{Path: "b", Weight: 10})
	require.Contains(t, asText(t, p), "2\n7:11\n9:10\n")
}

// TestMergeRefusesOtherKinds checks that a front-end profile and an IR-level profile are not
// merged.
func TestMergeRefusesOtherKinds(t *testing.T) {
	p, err := instrprof.Load(filepath.Join(zooDir, "ir.profdata"))
	require.NoError(t, err)
	err = p.AddFile(filepath.Join(zooDir, "frontend.profraw"), 1, nil)
	require.ErrorIs(t, err, instrprof.ErrKind)
}

// randomText returns a text of a few random functions with counters, bitmaps and values. Functions
// of several such texts have the same names and hashes.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(":ir\n")
	// LLVM gives a record without a bitmap one that came before it, if that was merged.
	bitmaps := r.IntN(2) == 0
	for range 1 + r.IntN(6) {
		fmt.Fprintf(&b, "f%d\n%d\n2\n%d\n%d\n", r.IntN(5), r.IntN(2), r.IntN(50), r.Uint64N(1<<40))
		if bitmaps {
			fmt.Fprintf(&b, "$1\n%d\n", r.IntN(256))
		}
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "2\n0\n1\n2\nf%d:%d\n%s:%d\n1\n2\n1\n%d:%d\n0\n", r.IntN(7), r.IntN(9),
				[]string{"** External Symbol **", "g"}[r.IntN(2)], r.IntN(9), r.IntN(4), 1+r.IntN(9))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestMergeOfRandomTexts merges random texts and compares the sums with llvm-profdata.
func TestMergeOfRandomTexts(t *testing.T) {
	tool(t, "llvm-profdata")
	r := rand.New(rand.NewPCG(16, 1))
	for range testenv.Rounds(2, 15, 200) {
		dir := t.TempDir()
		var inputs []instrprof.Input
		args := []string{"--num-threads=1"}
		for i := range 1 + r.IntN(4) {
			file := fmt.Sprintf("%d.proftext", i)
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(randomText(r)), 0o666))
			inputs = append(inputs, instrprof.Input{Path: file, Weight: 1})
			args = append(args, file)
		}
		p, _ := merged(t, dir, inputs...)
		require.Equal(t, llvmText(t, dir, args...), asText(t, p))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ours.profdata"), asIndexed(t, p), 0o666))
		require.Equal(t, asText(t, p), llvmText(t, dir, "ours.profdata"))
	}
}

// TestMergeFilesInParallel merges with different numbers of goroutines. The result must equal the
// one of adding the files one after another.
func TestMergeFilesInParallel(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 2))
	dir := t.TempDir()
	var inputs []instrprof.Input
	for i := range 30 {
		path := filepath.Join(dir, fmt.Sprintf("%d.proftext", i))
		require.NoError(t, os.WriteFile(path, []byte(randomText(r)), 0o666))
		inputs = append(inputs, instrprof.Input{Path: path, Weight: 1 + r.Uint64N(3)})
	}
	for _, form := range []string{"ir.profraw", "temporal.profraw", "ir.profdata", "build-id.profraw"} {
		inputs = append(inputs, instrprof.Input{Path: filepath.Join(zooDir, form), Weight: 2})
	}
	want := &instrprof.Profile{}
	var dropped []string
	for i, in := range inputs {
		require.NoError(t, want.AddFile(in.Path, in.Weight, func(err error) { dropped = append(dropped, fmt.Sprint(i, err)) }))
	}
	require.NotEmpty(t, dropped)
	for _, goroutines := range []int{1, 3, 100, 2, 8}[:testenv.Rounds(3, 5)] {
		done := 0
		p, mismatches, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{Goroutines: goroutines, Progress: func(n int) { done = n }})
		require.NoError(t, err)
		require.Equal(t, len(inputs), done)
		require.Equal(t, asText(t, want), asText(t, p))
		require.Equal(t, string(asIndexed(t, want)), string(asIndexed(t, p)))
		var got []string
		for _, m := range mismatches {
			got = append(got, fmt.Sprint(m.Input, m.Err))
		}
		require.ElementsMatch(t, dropped, got)
	}
}

// TestMergeFilesFails checks that MergeFiles returns the error of the first file that has one.
func TestMergeFilesFails(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, read(t, zooDir, "ir.profraw")[:300], 0o666))
	good := instrprof.Input{Path: filepath.Join(zooDir, "ir.profraw"), Weight: 1}
	for range 20 {
		_, _, err := instrprof.MergeFiles([]instrprof.Input{good, good, {Path: bad, Weight: 1}, {Path: "none", Weight: 1}}, instrprof.MergeOptions{})
		require.ErrorIs(t, err, afdo.ErrTruncated)
		require.ErrorContains(t, err, bad)
	}
	_, _, err := instrprof.MergeFiles([]instrprof.Input{{Path: filepath.Join(zooDir, "branches.c"), Weight: 1}}, instrprof.MergeOptions{})
	require.ErrorIs(t, err, afdo.ErrMagic)
}

// TestMergeOfManyRawFilesMemory checks that merging thousands of raw files takes the memory of the
// result and one file.
func TestMergeOfManyRawFilesMemory(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	const runs = 2000
	inputs := make([]instrprof.Input, runs)
	data := read(t, zooDir, "ir.profraw")
	for i := range inputs {
		inputs[i] = instrprof.Input{Path: filepath.Join(dir, fmt.Sprint(i)), Weight: 1}
		require.NoError(t, os.WriteFile(inputs[i].Path, data, 0o666))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, _, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{Goroutines: 2})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(runs*2*16<<10), "of all files together, freed or not")
	one, err := instrprof.Load(inputs[0].Path)
	require.NoError(t, err)
	for rec := range one.Records() {
		sum, err := p.Record(rec.Name(), rec.Hash())
		require.NoError(t, err)
		for i := range rec.Counters().Len() {
			require.Equal(t, runs*rec.Counters().At(i), sum.Counters().At(i))
		}
	}
}

// TestMergeFilesSkips checks that a skipped file adds nothing to the result, for every kind of
// error and number of goroutines.
func TestMergeFilesSkips(t *testing.T) {
	dir := t.TempDir()
	data := read(t, zooDir, "ir.profraw")
	good := instrprof.Input{Path: filepath.Join(zooDir, "ir.profraw"), Weight: 2}
	inputs := []instrprof.Input{good, {Path: filepath.Join(zooDir, "frontend.profraw"), Weight: 1}, {Path: "none", Weight: 1}}
	for i := range 20 {
		bad := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(bad, data[:len(data)*i/20], 0o666))
		inputs = append(inputs, instrprof.Input{Path: bad, Weight: 1})
	}
	inputs = append(inputs, good)
	want, _, err := instrprof.MergeFiles([]instrprof.Input{good, good}, instrprof.MergeOptions{})
	require.NoError(t, err)
	for _, goroutines := range []int{1, 2, 5} {
		var skipped []int
		got, _, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{
			Goroutines: goroutines,
			Skip: func(i int, err error) bool {
				require.Error(t, err)
				skipped = append(skipped, i)
				return true
			},
		})
		require.NoError(t, err)
		require.Len(t, skipped, len(inputs)-2)
		require.True(t, slices.IsSorted(skipped))
		require.Equal(t, asText(t, want), asText(t, got))
	}
	_, _, err = instrprof.MergeFiles(inputs, instrprof.MergeOptions{Skip: func(i int, _ error) bool { return i == 1 }})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestMergeTellsLostCounts checks Mismatch.Lost: the sum of the counters of a record that is
// dropped as a whole, and 0 for a record whose counters are kept.
func TestMergeTellsLostCounts(t *testing.T) {
	dir := t.TempDir()
	var inputs []instrprof.Input
	for i, records := range []string{"f\n1\n2\n3\n4\n", "f\n1\n3\n5\n6\n7\n", "f\n1\n1\n18446744073709551615\n", "f\n1\n2\n1\n1\n$1\n0x1\n"} {
		path := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(path, []byte(records), 0o666))
		inputs = append(inputs, instrprof.Input{Path: path, Weight: 10})
	}
	_, mismatches, err := instrprof.MergeFiles(inputs, instrprof.MergeOptions{})
	require.NoError(t, err)
	lost := map[int]uint64{}
	for _, m := range mismatches {
		require.ErrorIs(t, m.Err, instrprof.ErrMismatch)
		lost[m.Input] = m.Lost
	}
	require.Equal(t, map[int]uint64{1: 180, 2: 0, 3: 0}, lost)
}
