package verdict_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/verdict"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		read    samples.Report
		quality create.Quality
		level   verdict.Level
		longer  float64
		reason  string
	}{
		{quality: create.Quality{Density: 1}, level: verdict.LevelGood, longer: 1},
		{quality: create.Quality{Density: 1000, LeftOut: 0.05}, level: verdict.LevelGood, longer: 1},
		{quality: create.Quality{Exact: true, Density: 0.001, LeftOut: 1}, level: verdict.LevelGood, longer: 1},
		{quality: create.Quality{Density: 0.5}, level: verdict.LevelThin, longer: 2, reason: "0.5 samples for each instruction"},
		{quality: create.Quality{Density: 100, LeftOut: 0.1}, level: verdict.LevelThin, longer: 2, reason: "10.00% of the samples are in functions"},
		{quality: create.Quality{Density: 0.05, LeftOut: 0.1}, level: verdict.LevelPoor, longer: 20, reason: "0.05 samples"},
		{quality: create.Quality{Density: 0.5, LeftOut: 0.6}, level: verdict.LevelPoor, longer: 12, reason: "60.00%"},
		{quality: create.Quality{Density: 0.5, Uncertain: 1}, level: verdict.LevelPoor, longer: 2, reason: "0.5 samples"},
		{quality: create.Quality{Density: 4, Uncertain: 1}, level: verdict.LevelGood, longer: 1},
		{samples.Report{Bursts: 400, BurstsWithin: 90, Within: 90}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 300.0 / 90, "90 moments in the program of at least 300, and 310 in other programs"},
		{samples.Report{Bursts: 90, Effort: samples.Effort{Moments: 1000, Missed: 800, Stops: 200, Budget: 1000, Stopped: 80}}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 300.0 / 90, "it spent 8.00% of the time that it might have, as the program waited for a processor: record on an idle machine"},
		{samples.Report{Bursts: 400, Effort: samples.Effort{Moments: 1000, Missed: 800, Stops: 200, Budget: 1000, Stopped: 80}}, create.Quality{Density: 50, Branches: true}, verdict.LevelGood, 1, ""},
		{samples.Report{Bursts: 400, Effort: samples.Effort{Moments: 1000, Missed: 300, Unsampled: 200, Threads: 4, Sampled: 3}}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 1, "20.00% of the moments were in threads that could not be stopped: of 4 threads, 3 have a sample"},
		{samples.Report{Bursts: 800, BurstsWithin: 310, Within: 310, Effort: samples.Effort{Moments: 1000, Missed: 300, Unsampled: 200, Threads: 400, Sampled: 3}}, create.Quality{Density: 50, Branches: true}, verdict.LevelGood, 1, ""},
		{samples.Report{Bursts: 400, Effort: samples.Effort{Wanted: 1000, Simulated: 800}}, create.Quality{Density: 50, Branches: true}, verdict.LevelGood, 1, ""},
		{samples.Report{Bursts: 400, Effort: samples.Effort{Wanted: 1000, Simulated: 700}}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 1, "30.00% of the instructions of its bursts follow one that steps cannot simulate, such as one of x87"},
		{samples.Report{Bursts: 400, Effort: samples.Effort{Wanted: 1000, Simulated: 300}}, create.Quality{Density: 50, Branches: true}, verdict.LevelPoor, 1, "70.00% of the instructions of its bursts follow one that steps cannot simulate, such as one of x87: record with --event cycles or cpu-clock"},
		{samples.Report{Bursts: 90}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 300.0 / 90, "90 moments of at least 300"},
		{samples.Report{Bursts: 9}, create.Quality{Density: 50, Branches: true}, verdict.LevelPoor, 1, "9 moments of at least 300"},
		{samples.Report{Bursts: 300}, create.Quality{Density: 50, Branches: true}, verdict.LevelGood, 1, ""},
		{samples.Report{Samples: 80, Lost: 20}, create.Quality{Density: 50}, verdict.LevelThin, 1, "20.00% of the records were lost"},
		{samples.Report{InBinary: 80, Outside: 20}, create.Quality{Density: 50}, verdict.LevelThin, 1, "25.00% of the samples in the program are in no code"},
		{samples.Report{Bogus: 10}, create.Quality{Density: 50, Branches: true}, verdict.LevelThin, 1, "10.00% of the ranges"},
		{samples.Report{Bogus: 40}, create.Quality{Density: 50, Branches: true}, verdict.LevelPoor, 1, "30.77% of the ranges"},
		{samples.Report{Counts: samples.CountsOther, Event: "page-faults"}, create.Quality{Density: 50}, verdict.LevelThin, 1, "page-faults does not count execution"},
		{samples.Report{Format: samples.PerfScript}, create.Quality{Density: 50}, verdict.LevelThin, 1, "names no events"},
		{samples.Report{Format: samples.PerfScript, Event: "cycles"}, create.Quality{Density: 50}, verdict.LevelGood, 1, ""},
		{samples.Report{Filter: "cond", Stacks: 10, AtBranch: 5}, create.Quality{Density: 50}, verdict.LevelThin, 1, "only some branches (cond)"},
		{samples.Report{Filter: "cond", Stacks: 10, AtBranch: 10}, create.Quality{Density: 50}, verdict.LevelPoor, 1, "only taken at these branches"},
	} {
		made := &create.Report{Quality: c.quality, RangeRuns: 90, Weight: 100, Placed: 100}
		got := verdict.Of(&c.read, made)
		assert.Equal(t, c.level, got.Level, "%+v", c)
		assert.Equal(t, c.quality.Exact, got.Exact)
		if c.level != verdict.LevelGood && c.longer > 1 {
			assert.InDelta(t, c.longer, got.Longer, 1e-9, "%+v", c)
		}
		if c.reason == "" {
			assert.Empty(t, got.Reasons, "%+v", c)
		} else {
			assert.Contains(t, got.Reasons[0], c.reason)
		}
	}
	assert.Equal(t, "poor", verdict.LevelPoor.String())
}

func TestRan(t *testing.T) {
	r := &samples.Report{Objects: []samples.Object{{Name: "/lib/libc.so", Samples: 5}, {Name: "/bin/x", Branches: 7}}}
	assert.Equal(t, map[string]uint64{"/lib/libc.so": 5, "/bin/x": 7}, verdict.Ran(r))
}

// A compile may be of another program if it shares only main and functions in system headers with a
// profile. Sources below /usr/src, as from debug packages, are not system headers.
func TestOnlyCommon(t *testing.T) {
	for _, c := range []struct {
		functions map[string]string
		main      string
		only      bool
	}{
		{map[string]string{"main": "/a/x.c", "std::max": "/usr/include/c++/12/bits/stl_algo.h"}, "/a/x.c", true},
		{map[string]string{"main": "/a/x.c", "f": "/usr/src/debug/x-1/f.c"}, "", false},
		{map[string]string{"printf": "/usr/include/stdio.h"}, "", true},
		{map[string]string{"main": ""}, "", false},
	} {
		main, only := verdict.OnlyCommon(maps.All(c.functions))
		assert.Equal(t, c.only, only, c.functions)
		assert.Equal(t, c.main, main, c.functions)
	}
	assert.True(t, verdict.IsOtherMain("/a/x.c", "/b/y.c"))
	assert.False(t, verdict.IsOtherMain("/a/x.c", "/b/y.c", "/b/x.c"))
}
