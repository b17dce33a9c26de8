package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// diffed is the JSON of diff.
type diffed struct {
	First, Second struct {
		File                      string
		FileBase64                string `json:"file_base64"`
		Samples, Functions, Units uint64
	}
	Equal      bool
	Difference string
	Overlap    diffedOverlap
	Matched    struct {
		Same    int
		Folders []struct {
			First, Second string
			Units         int
		}
		Moved []struct{ First, Second string }
	}
	Changed, Gained, Lost []diffedFunction
	Units                 []diffedUnit
	LeftOut               struct{ Changed, Gained, Lost, Units uint64 } `json:"left_out"`
}

type diffedOverlap struct {
	Similarity, Functions, Locations, Counts float64
	OnlyFirst                                float64 `json:"only_first"`
	OnlySecond                               float64 `json:"only_second"`
}

type diffedFunction struct {
	Name, Demangled, Unit string
	NameBase64            string `json:"name_base64"`
	DemangledBase64       string `json:"demangled_base64"`
	UnitBase64            string `json:"unit_base64"`
	diffedShares
}

type diffedUnit struct {
	Unit       string
	UnitBase64 string `json:"unit_base64"`
	diffedShares
	FirstFunctions  int `json:"first_functions"`
	SecondFunctions int `json:"second_functions"`
	Gained, Lost    int
}

type diffedShares struct {
	FirstSamples  uint64  `json:"first_samples"`
	SecondSamples uint64  `json:"second_samples"`
	FirstShare    float64 `json:"first_share"`
	SecondShare   float64 `json:"second_share"`
	Change        float64
	Overlap       float64
}

func sharesOf(first, second profile.Portion, change, overlap float64) diffedShares {
	return diffedShares{first.Samples, second.Samples, first.Share, second.Share, change, overlap}
}

// diffJSONOf runs diff --json, which must end with the given status.
func diffJSONOf(t *testing.T, status int, args ...string) diffed {
	t.Helper()
	r := afdoRun(append([]string{"diff", "--json"}, args...)...)
	require.Equal(t, result{status: status, out: r.out}, r)
	var d diffed
	dec := json.NewDecoder(strings.NewReader(unversioned(r.out)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&d))
	return d
}

// sameOverlap is the overlap of a profile with itself.
var sameOverlap = diffedOverlap{Similarity: 1, Functions: 1, Locations: 1, Counts: 1}

func TestDiffOfTheSame(t *testing.T) {
	for _, form := range []string{".txt", ".afdo", ".compact.afdo", ".v3.afdo"} {
		d := diffJSONOf(t, cli.StatusDone, "--exit-code", example(".txt"), example(form))
		assert.True(t, d.Equal)
		assert.Empty(t, d.Difference)
		assert.Equal(t, sameOverlap, d.Overlap)
		assert.Empty(t, d.Changed)
		assert.Empty(t, d.Gained)
		assert.Empty(t, d.Lost)
		assert.Empty(t, d.Units)
		assert.Equal(t, "The profiles say the same.", strings.Split(must(t, "diff", example(".txt"), example(form)), "\n")[4])
	}
}

func TestDiffOfTheSameCorpus(t *testing.T) {
	for _, name := range []string{"libgui.v3", "libart_arm.v3", "keystore2.v3"}[:testenv.Rounds(1, 3)] {
		path := testenv.Corpus(t, name)
		assert.Equal(t, sameOverlap, diffJSONOf(t, cli.StatusDone, "--exit-code", path, path).Overlap)
	}
}

func TestDiffOfTheUnrelated(t *testing.T) {
	d := diffJSONOf(t, cli.StatusFault, "--exit-code", "-n", "3", testenv.Corpus(t, "libart_arm.v3"), testenv.Corpus(t, "keystore2.v3"))
	assert.False(t, d.Equal)
	assert.Zero(t, d.Overlap.Locations)
	assert.Zero(t, d.Overlap.Similarity)
	assert.Equal(t, 1.0, d.Overlap.OnlyFirst)
	assert.Equal(t, 1.0, d.Overlap.OnlySecond)
	assert.Len(t, d.Gained, 3)
	assert.Equal(t, d.Second.Functions, 3+d.LeftOut.Gained)
	assert.Equal(t, d.First.Functions, 3+d.LeftOut.Lost)
	assert.Empty(t, d.Changed)
}

// TestDiffExitCode compares profiles that differ although their samples are the same.
func TestDiffExitCode(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte(strings.Replace(string(text), "(5:12400000:9)", "(5:12400001:9)", 1)), 0o666))
	d := diffJSONOf(t, cli.StatusFault, "--exit-code", example(".txt"), other)
	assert.Equal(t, 1.0, d.Overlap.Locations)
	assert.Equal(t, `symbol "_ZN4shop4Cart3addERKNS_4ItemE" of unit "src/cart.cc": head count: 12400000 in the first profile, 12400001 in the second`, d.Difference)
	assert.Equal(t, d, diffJSONOf(t, cli.StatusDone, example(".txt"), other))
	assert.Contains(t, must(t, "diff", example(".txt"), other), "\nThe profiles differ, first here: "+d.Difference+"\n")
}

// TestDiffAgainstLibrary compares the JSON of diff with the results of package profile, for random
// files.
func TestDiffAgainstLibrary(t *testing.T) {
	dir := t.TempDir()
	paths := [2]string{filepath.Join(dir, "first"), filepath.Join(dir, "second")}
	var inBoth, onlySecond, onlyFirst int
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		data, _ := gen.Random(rng, gen.All())
		require.NoError(t, os.WriteFile(paths[0], data, 0o666))
		data, _ = gen.Random(rng, gen.All())
		require.NoError(t, os.WriteFile(paths[1], data, 0o666))
		if seed%2 == 0 {
			r := afdoRun("merge", paths[0], paths[1], "--to", "v4", "-o", paths[1])
			require.Equal(t, cli.StatusDone, r.status, r.err)
		}
		e := newEnv(cli.Env{})
		p, err := loadProfile(e, paths[0])
		require.NoError(t, err)
		q, err := loadProfile(e, paths[1])
		require.NoError(t, err)
		same := profile.Compare(p, q) == nil
		aligned := profile.Align(p, q)
		want := profile.NewDiff(p, q)
		got := diffJSONOf(t, cli.StatusDone, "-n", "0", paths[0], paths[1])
		require.Equal(t, same, got.Equal)
		require.Equal(t, aligned.Same, got.Matched.Same)
		require.Equal(t, want.Overlap.Similarity, got.Overlap.Similarity)
		require.Equal(t, want.Overlap.Functions, got.Overlap.Functions)
		require.Equal(t, want.Overlap.Locations, got.Overlap.Locations)
		require.Equal(t, want.Overlap.Counts, got.Overlap.Counts)
		require.Equal(t, want.Overlap.OnlyFirst, got.Overlap.OnlyFirst)
		require.Equal(t, want.Overlap.OnlySecond, got.Overlap.OnlySecond)
		require.Equal(t, uint64(want.First.Functions), got.First.Functions)
		require.Equal(t, want.Second.Samples, got.Second.Samples)
		var changed, gained, lost []diffedShares
		for _, f := range want.Functions {
			s := sharesOf(f.First, f.Second, f.Change(), f.Overlap)
			switch {
			case f.First.Functions == 0:
				gained = append(gained, s)
			case f.Second.Functions == 0:
				lost = append(lost, s)
			case f.Change() != 0 || f.Overlap != 1:
				changed = append(changed, s)
			}
		}
		require.Equal(t, changed, numbersOf(got.Changed))
		require.Equal(t, gained, numbersOf(got.Gained))
		require.Equal(t, lost, numbersOf(got.Lost))
		inBoth, onlySecond, onlyFirst = inBoth+len(changed), onlySecond+len(gained), onlyFirst+len(lost)
		units := 0
		for _, u := range want.Units {
			if u.Change() != 0 || u.Overlap != 1 || u.Gained+u.Lost > 0 {
				units++
			}
		}
		require.Len(t, got.Units, units)
	}
	assert.NotZero(t, inBoth)
	assert.NotZero(t, onlySecond)
	assert.NotZero(t, onlyFirst)
}

// TestDiffOfFolders compares profiles of two builds in two folders. Their units are matched, and
// diff prints how.
func TestDiffOfFolders(t *testing.T) {
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	moved := filepath.Join(t.TempDir(), "moved.txt")
	require.NoError(t, os.WriteFile(moved, []byte(strings.ReplaceAll(string(text), `"src/`, `"/build/2/src/`)), 0o666))
	d := diffJSONOf(t, cli.StatusFault, "--exit-code", example(".txt"), moved)
	assert.Contains(t, d.Difference, "src/cart.cc")
	assert.Equal(t, sameOverlap, d.Overlap)
	assert.Empty(t, d.Changed)
	require.Len(t, d.Matched.Folders, 1)
	assert.Equal(t, "/build/2/", d.Matched.Folders[0].Second)
	assert.Contains(t, must(t, "diff", example(".txt"), moved), "\nPaths have /build/2/ before them in the second profile: units matched: 3.\n")
}

func numbersOf(functions []diffedFunction) (numbers []diffedShares) {
	for _, f := range functions {
		numbers = append(numbers, f.diffedShares)
	}
	return numbers
}

func TestDiffFlags(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "kept")
	r := afdoRun("convert", example(".afdo"), "--to", "v4", "-o", keep, "--strip-names", "apply")
	require.Equal(t, cli.StatusDone, r.status, r.err)
	d := diffJSONOf(t, cli.StatusDone, example(".afdo"), keep, "-n", "2")
	require.Len(t, d.Lost, 2)
	assert.Equal(t, uint64(1), d.LeftOut.Lost)
	assert.Equal(t, "shop::NoDiscount::apply(double) const", d.Lost[0].Demangled)
	d = diffJSONOf(t, cli.StatusDone, example(".afdo"), keep, "--no-demangle")
	assert.Empty(t, d.Lost[0].Demangled)
	assert.Equal(t, "_ZNK4shop10NoDiscount5applyEd", d.Lost[0].Name)

	text := must(t, "diff", example(".afdo"), keep, "-n", "2")
	assert.Contains(t, text, "\nFunctions that only the first profile has: 3\n")
	assert.Contains(t, text, "\n  1 more\n")
	assert.Contains(t, text, "  shop::NoDiscount::apply(double) const  src/discount.cc\n")
	assert.NotContains(t, text, "only the second")
	text = must(t, "diff", example(".afdo"), keep, "--units", "--no-demangle")
	assert.Contains(t, text, "\nUnits that have changed: 4\n")
	assert.Regexp(t, `(?m)^ +0\.18% +none +-0\.18 +0\.000000 +0 +3  src/discount\.cc$`, text)
	assert.NotContains(t, text, "Functions that")

	assert.Equal(t, cli.StatusUsage, afdoRun("diff", "-", "-").status)
	r = afdoRun("diff", "no such file", "nor this")
	assert.Equal(t, result{cli.StatusFault, "", "afdo: open no such file: no such file or directory\n"}, r)
}

// TestDiffWithoutUnits compares version 2, which has no units, with other formats: functions are
// matched by name alone.
func TestDiffWithoutUnits(t *testing.T) {
	for _, paths := range [][2]string{{".v3.afdo", ".v2.afdo"}, {".v2.afdo", ".afdo"}} {
		r := afdoRun("diff", example(paths[0]), example(paths[1]))
		assert.Equal(t, "afdo: "+example(".v2.afdo")+" knows no units: functions are compared by name alone\n", r.err)
		assert.Contains(t, r.out, "Similarity  1.000000")
		assert.Contains(t, r.out, "Locations   1.000000")
	}
	assert.Empty(t, afdoRun("diff", example(".v2.afdo"), example(".v2.afdo")).err)
}
