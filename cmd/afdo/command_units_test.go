package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// naiveUnits returns what the verb units must print, in the order of the file.
func naiveUnits(truth *naive.File) []gcovkind.UnitFacts {
	units := []gcovkind.UnitFacts{}
	for _, u := range truth.Units {
		f := gcovkind.UnitFacts{Unit: u.Path, Symbols: uint64(len(u.Symbols))}
		for _, s := range u.Symbols {
			if s.HasInfo {
				f.Functions++
			}
			f.Samples = naiveSum(f.Samples, s.Locations)
		}
		units = append(units, f)
	}
	return units
}

func naiveSum(sum uint64, locations []naive.Location) uint64 {
	for _, l := range locations {
		if sum > math.MaxUint64-l.Count {
			return math.MaxUint64
		}
		sum = naiveSum(sum+l.Count, l.Locations)
	}
	return sum
}

func unitsJSON(t *testing.T, args ...string) []gcovkind.UnitFacts {
	t.Helper()
	var units []gcovkind.UnitFacts
	mustJSON(t, &units, append([]string{"units", "--json"}, args...)...)
	for i := range units {
		units[i].Unit = trueName(t, units[i].Unit, units[i].UnitBase64)
		units[i].UnitBase64 = ""
	}
	return units
}

func TestUnitsRandom(t *testing.T) {
	randomFiles(t, 300, func(t *testing.T, path string, truth *naive.File) {
		want := naiveUnits(truth)
		assert.Equal(t, want, unitsJSON(t, path))
		assert.Equal(t, 1+len(want), strings.Count(must(t, "units", path), "\n"), "a line a unit")
	})
}

func TestUnitsSort(t *testing.T) {
	path := testenv.Corpus(t, "libgui.v4c")
	inFile := unitsJSON(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	require.Equal(t, naiveUnits(truth), inFile)

	for order, before := range map[string]func(a, b gcovkind.UnitFacts) bool{
		"file":      func(a, b gcovkind.UnitFacts) bool { return slices.Index(inFile, a) < slices.Index(inFile, b) },
		"path":      func(a, b gcovkind.UnitFacts) bool { return a.Unit < b.Unit },
		"samples":   func(a, b gcovkind.UnitFacts) bool { return a.Samples > b.Samples },
		"functions": func(a, b gcovkind.UnitFacts) bool { return a.Functions > b.Functions },
	} {
		units := unitsJSON(t, "--sort", order, path)
		assert.ElementsMatch(t, inFile, units, order)
		for i := 1; i < len(units); i++ {
			a, b := units[i-1], units[i]
			inOrder := before(a, b) || !before(b, a) && slices.Index(inFile, a) < slices.Index(inFile, b)
			require.True(t, inOrder, "%s: %v, %v", order, a, b)
		}
	}
}

// TestUnitsPrintable checks that control characters in a path do not reach the terminal.
func TestUnitsPrintable(t *testing.T) {
	f := &naive.File{Units: []naive.Unit{{Path: "a\x1b[2Jb"}, {Path: "c\nd"}, {}}}
	assert.Equal(t, `Symbols  Functions  Samples  Path
      0          0        0  "a\x1b[2Jb"
      0          0        0  "c\nd"
      0          0        0  (unknown)
`, must(t, "units", writeFile(t, "x", gen.Encode(f, false))))
}

func TestUnitsHostile(t *testing.T) {
	huge := writeFile(t, "huge", gen.HugeNames(1<<16, 2000, true))
	r := afdoRun("units", huge)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "limit exceeded: the names of the unit exceed ")
}
