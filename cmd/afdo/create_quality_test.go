package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/produce"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/produce/create"
)

// TestCreateRefusesPoorProfiles checks that a profile of too few samples is written only with
// --allow-poor.
func TestCreateRefusesPoorProfiles(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	out := filepath.Join(t.TempDir(), "out")
	in := sampled(t, program, "loop", 50, 0)
	few := []string{"create", "--binary", program, "--profile", in, "--min-samples", "0", "--to", "text", "-o", out}
	r := afdoRun(few...)
	require.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.err, "the recording has addresses without branches: good for which functions are hot, poor for which way branches go (84 samples for each instruction of the hot functions)")

	one := writeFile(t, "one", []byte(oneSample(t, in)))
	out = filepath.Join(t.TempDir(), "out")
	few[4], few[len(few)-1] = one, out
	r = afdoRun(few...)
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "too few samples for a profile that helps: 0.")
	assert.Contains(t, r.err, "times longer, or take the profile as it is with --allow-poor")
	assert.NoFileExists(t, out)
	r = afdoRun(append(few, "--allow-poor")...)
	assert.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.err, "the profile is poor: 0.")
	assert.FileExists(t, out)
}

// oneSample returns the text of address samples with only the first address of a file, counted
// once.
func oneSample(t *testing.T, path string) string {
	in, err := os.Open(path)
	require.NoError(t, err)
	defer in.Close()
	set, err := samples.Parse(in)
	require.NoError(t, err)
	one := new(samples.Set)
	for address := range set.Addresses.All() {
		one.Addresses.Add(address, 1)
		break
	}
	var text strings.Builder
	require.NoError(t, one.Write(&text))
	return text.String()
}

func TestCreateQualityJSON(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	r := afdoRun("create", "--binary", program, "--profile", sampled(t, program, "loop", 50, 0), "--to", "v2", "-o", filepath.Join(t.TempDir(), "out"), "--json")
	require.Equal(t, 0, r.status, r.err)
	keepJSON(t, "create", r.out)
	facts := produce.CreateFacts{ProfileFacts: new(produce.ProfileFacts)}
	require.NoError(t, json.Unmarshal([]byte(r.out), &facts))
	assert.InDelta(t, 84.2, facts.Quality.Density, 0.1)
	assert.Equal(t, &produce.QualityFacts{Verdict: "good", Density: facts.Quality.Density, Reasons: []string{}, RecordLonger: 1}, facts.Quality)
}

func TestQualityFacts(t *testing.T) {
	f := produce.NewQualityFacts(&create.Report{RangeRuns: 90, Overruns: 4, BackwardRanges: 1}, &samples.Report{Stacks: 10, Branches: 160, Bogus: 10, Lost: 3})
	assert.InDelta(t, 16, f.StackDepth, 0)
	assert.InDelta(t, 0.15, f.ContradictedShare, 1e-9)
	assert.Equal(t, uint64(3), f.Lost)
	assert.Equal(t, "exact", produce.NewQualityFacts(&create.Report{Quality: create.Quality{Exact: true}}, new(samples.Report)).Verdict)
	for longer, text := range map[float64]string{1.2: "somewhat longer", 9.6: "10 times longer", 1e6: "much longer"} {
		assert.Equal(t, text, (&produce.QualityFacts{RecordLonger: longer}).Longer())
	}
	assert.Equal(t, []string{"0.05", "9.9", "12", "12,345"}, []string{produce.Few(0.0501), produce.Few(9.9), produce.Few(12.3), produce.Few(12345)})
}
