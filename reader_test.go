package afdo_test

import (
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// The Reader and the naive decoder read the same from random legal files.
func TestReaderAgreesWithNaive(t *testing.T) {
	files := testenv.Rounds(400, 4000)
	for seed := range files {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		data, truth := gen.Random(r, gen.All())
		require.NotNil(t, truth)
		want := readertest.Comparable(truth)
		reader, err := afdo.OpenBytes(data)
		require.NoError(t, err, "seed %d", seed)
		got, err := readertest.File(reader)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, reflect.DeepEqual(want, got), "seed %d reads as something else", seed)
		checkNumLocations(t, reader, truth)
		if seed%20 == 0 {
			checkLookups(t, reader, truth)
		}
		if seed%100 == 0 {
			for name, reader := range readertest.Sources(t, data) {
				got, err := readertest.File(reader)
				require.NoError(t, err, "seed %d from %s", seed, name)
				require.True(t, reflect.DeepEqual(want, got), "seed %d reads as something else from %s", seed, name)
				checkLookups(t, reader, truth)
			}
		}
	}
}

// checkNumLocations checks the number of location records that each function stores.
func checkNumLocations(t *testing.T, r *afdo.Reader, truth *naive.File) {
	t.Helper()
	for u, err := range r.Units() {
		require.NoError(t, err)
		row := 0
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			if s.HasInfo() {
				info, err := s.Info()
				require.NoError(t, err)
				require.EqualValues(t, truth.Units[u.Index()].Symbols[row].NumLocations, info.NumLocations())
			}
			row++
		}
	}
}

// checkLookups finds each unit and symbol of a file with every lookup method.
func checkLookups(t *testing.T, r *afdo.Reader, truth *naive.File) {
	t.Helper()
	n, err := r.NumUnits()
	require.NoError(t, err)
	require.Equal(t, len(truth.Units), n)
	for i, unit := range truth.Units {
		u, err := r.Unit(unit.Path)
		require.NoError(t, err)
		require.Equal(t, i, u.Index())
		u, err = r.UnitBySuffix(unit.Path)
		require.NoError(t, err)
		require.Equal(t, unit.Path, u.Path(), "a unit of exactly that path comes before others that end in it")
		for _, symbol := range unit.Symbols {
			checkSymbolLookups(t, r, unit, symbol)
		}
		cold, err := r.Unit(unit.Path)
		require.NoError(t, err)
		_, err = cold.Symbol("no such name")
		require.ErrorIs(t, err, afdo.ErrNotFound)
	}
	_, err = r.Unit("no such path")
	require.ErrorIs(t, err, afdo.ErrNotFound)
}

func checkSymbolLookups(t *testing.T, r *afdo.Reader, unit naive.Unit, symbol naive.Symbol) {
	t.Helper()
	id := afdo.SymbolID(symbol.ID)
	cold, err := r.Unit(unit.Path) // nothing decoded: by the trie
	require.NoError(t, err)
	byName, err := cold.Symbol(symbol.Name)
	require.NoError(t, err)
	byID, err := cold.SymbolByID(id)
	require.NoError(t, err)
	again, err := cold.Symbol(symbol.Name) // by the decoded table
	require.NoError(t, err)
	anywhere, err := r.SymbolByID(id)
	require.NoError(t, err)
	for _, s := range []afdo.Symbol{byName, byID, again, anywhere} {
		require.Equal(t, id, s.ID())
		require.Equal(t, symbol.Name, s.Name())
		require.Equal(t, unit.Path, s.Unit().Path())
		require.Equal(t, symbol.HasInfo, s.HasInfo())
		if symbol.HasInfo {
			info, err := s.Info()
			require.NoError(t, err)
			require.Equal(t, symbol.Head, info.HeadCount)
		} else {
			_, err := s.Info()
			require.ErrorIs(t, err, afdo.ErrNotFound)
		}
	}
	owner, err := r.UnitOf(id)
	require.NoError(t, err)
	require.Equal(t, unit.Path, owner.Path())
}

func TestUnitBySuffix(t *testing.T) {
	file := &naive.File{Units: []naive.Unit{{Path: "/src/a/b.c"}, {Path: "/src/aa/b.c"}, {Path: "b.h"}, {Path: "/src/b.h"}, {Path: ""}}}
	r, err := afdo.OpenBytes(gen.Encode(file, true))
	require.NoError(t, err)
	for suffix, want := range map[string]string{"a/b.c": "/src/a/b.c", "/aa/b.c": "/src/aa/b.c", "b.h": "b.h", "/b.h": "/src/b.h", "": ""} {
		u, err := r.UnitBySuffix(suffix)
		require.NoError(t, err, suffix)
		require.Equal(t, want, u.Path(), suffix)
	}
	_, err = r.UnitBySuffix("b.c")
	var ambiguous *afdo.AmbiguousError
	require.ErrorAs(t, err, &ambiguous)
	require.ErrorIs(t, err, afdo.ErrAmbiguous)
	require.Equal(t, []string{"/src/a/b.c", "/src/aa/b.c"}, ambiguous.Paths)
	for _, suffix := range []string{"/", ".c", "c", "src/a", "x/src/a/b.c"} {
		_, err = r.UnitBySuffix(suffix)
		require.ErrorIs(t, err, afdo.ErrNotFound, suffix)
	}
}

// Lookups of units by path return the same after the Reader has built its hash table.
func TestUnitHashed(t *testing.T) {
	r, err := afdo.OpenBytes(gen.Big(300, true))
	require.NoError(t, err)
	for range 3 {
		for i := range 300 {
			u, err := r.Unit(gen.BigPath(i))
			require.NoError(t, err)
			require.Equal(t, i, u.Index())
			_, err = r.Unit(gen.BigPath(i) + "x")
			require.ErrorIs(t, err, afdo.ErrNotFound)
		}
	}
}

// A real profile that another program wrote has the same content in normal and in compact mode. Its
// samples are those of the version 3 profile from which it was made.
func TestRealProfile(t *testing.T) {
	var files []*naive.File
	for _, name := range []string{"libgui.v4", "libgui.v4c"} {
		r, err := afdo.Open(testenv.Corpus(t, name))
		require.NoError(t, err)
		defer r.Close()
		f, err := readertest.File(r)
		require.NoError(t, err)
		files = append(files, f)
		if name == "libgui.v4" && !testenv.Sweep() { // it has the units of the other, see below
			continue
		}
		data, err := os.ReadFile(testenv.Corpus(t, name))
		require.NoError(t, err)
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(readertest.Comparable(truth), f), "the naive decoder reads something else")
	}
	require.True(t, reflect.DeepEqual(files[0].Units, files[1].Units), "units differ")
	require.Equal(t, files[0].Summary, files[1].Summary)
	data, err := os.ReadFile(testenv.Corpus(t, "libgui.v3"))
	require.NoError(t, err)
	v3, err := naive.DecodeV3(data)
	require.NoError(t, err)
	want, err := v3.Canonical()
	require.NoError(t, err)
	got, err := files[1].Canonical()
	require.NoError(t, err)
	require.Equal(t, len(want.Functions), len(got.Functions))
	functions := 0
	for _, unit := range files[1].Units {
		for _, symbol := range unit.Symbols {
			// Where two discriminators were cut to one, the version 3 file has only one of two
			// counts.
			if symbol.HasInfo && !countsTwice(symbol.Locations) {
				key := naive.Key{Path: unit.Path, Name: symbol.Name}
				require.Truef(t, reflect.DeepEqual(want.Functions[key], got.Functions[key]), "%v", key)
				functions++
			}
		}
	}
	require.Equal(t, 1596-26, functions, "26 functions have such places")
}

// countsTwice reports whether a location of a body, or of a body inlined in it, has two count
// records.
func countsTwice(body []naive.Location) bool {
	seen := map[naive.Place]bool{}
	for _, l := range body {
		place := naive.Place{Line: l.Line, Disc: l.Disc}
		if l.Type <= naive.Wide {
			if seen[place] {
				return true
			}
			seen[place] = true
		}
		if countsTwice(l.Locations) {
			return true
		}
	}
	return false
}

func TestRFCExample(t *testing.T) {
	for _, compact := range []bool{false, true} {
		r, err := afdo.OpenBytes(gen.RFCExample(compact))
		require.NoError(t, err)
		u, err := r.Unit("/home/user/test.c")
		require.NoError(t, err)
		s, err := u.Symbol("bubble_sort")
		require.NoError(t, err)
		info, err := s.Info()
		require.NoError(t, err)
		var sum uint64
		c := info.Cursor()
		for c.Next() {
			sum += c.Location().Count
		}
		require.NoError(t, c.Err())
		require.EqualValues(t, 34+31+2*659399+23+4*218844+31, sum)
	}
}
