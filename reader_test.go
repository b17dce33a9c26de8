package afdo_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// sources opens data in each of the three ways.
func sources(t *testing.T, data []byte, opts ...afdo.Option) map[string]*afdo.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.afdo")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	mapped, err := afdo.Open(path, opts...)
	require.NoError(t, err)
	inMemory, err := afdo.OpenBytes(data, opts...)
	require.NoError(t, err)
	readerAt, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), opts...)
	require.NoError(t, err)
	readers := map[string]*afdo.Reader{"mmap": mapped, "bytes": inMemory, "readerat": readerAt}
	t.Cleanup(func() {
		for _, r := range readers {
			_ = r.Close()
		}
	})
	return readers
}

// read puts everything that a Reader says into the form of the naive decoder. What a Reader does
// not tell (unused strings, trailing bytes) is left out, see comparable.
func read(r *afdo.Reader) (*naive.File, error) {
	f := &naive.File{Version: r.Header().Version, Compact: r.Header().Compact}
	for s, err := range r.Sections() {
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, naive.Section{Type: uint8(s.Type), Compact: s.Compact, Offset: s.Offset, Size: s.Size})
	}
	summary, err := r.Summary()
	if err != nil {
		return nil, err
	}
	f.Summary = naive.Summary{
		TotalCount: summary.TotalCount, MaxCount: summary.MaxCount, MaxFnCount: summary.MaxFunctionCount,
		NumCounts: summary.NumCounts, NumFunctions: summary.NumFunctions,
	}
	for _, e := range summary.Entries {
		f.Summary.Entries = append(f.Summary.Entries, naive.Entry(e))
	}
	f.Units, err = readUnits(r)
	return f, err
}

func readUnits(r *afdo.Reader) (units []naive.Unit, err error) {
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		unit, err := readUnit(u)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

func readUnit(u *afdo.Unit) (naive.Unit, error) {
	start, end := u.IDs()
	unit := naive.Unit{Path: u.Path(), Start: uint32(start), End: uint32(end)}
	for s, err := range u.Symbols() {
		if err != nil {
			return unit, err
		}
		symbol, err := readSymbol(s)
		if err != nil {
			return unit, err
		}
		unit.Symbols = append(unit.Symbols, symbol)
	}
	return unit, nil
}

func readSymbol(s afdo.Symbol) (naive.Symbol, error) {
	symbol := naive.Symbol{ID: uint32(s.ID()), Name: s.Name(), HasInfo: s.HasInfo()}
	if !s.HasInfo() {
		return symbol, nil
	}
	info, err := s.Info()
	if err != nil {
		return symbol, err
	}
	symbol.Head, symbol.Timestamp = info.HeadCount, info.Timestamp
	symbol.NumLocations = uint32(info.NumLocations())
	c := info.Cursor()
	more := c.Next()
	symbol.Locations, more = readBody(c, more)
	if more {
		return symbol, fmt.Errorf("records left at depth %d", c.Depth())
	}
	symbol.Skipped = int(c.Unknown())
	return symbol, c.Err()
}

// readBody reads the records at the depth of the one that the cursor is at.
func readBody(c *afdo.Cursor, more bool) ([]naive.Location, bool) {
	var body []naive.Location
	for depth := c.Depth(); more && c.Depth() == depth; {
		l := *c.Location()
		record := naive.Location{
			Type: uint8(l.Type), Line: l.Line, Disc: l.Discriminator, Count: l.Count,
			Callee: uint32(l.Callee), NumLocations: l.NumLocations,
		}
		for target := range c.Targets() {
			record.Targets = append(record.Targets, naive.Target{Callee: uint32(target.Callee), Count: target.Count})
		}
		if more = c.Next(); more && c.Depth() > depth {
			record.Locations, more = readBody(c, more)
		}
		body = append(body, record)
	}
	return body, more
}

// comparable strips what a Reader does not tell.
func comparable(f *naive.File) *naive.File {
	c := *f
	c.Sections = append([]naive.Section(nil), f.Sections...)
	for i := range c.Sections {
		c.Sections[i].Trailing = 0
	}
	c.Units = nil
	for _, u := range f.Units {
		u.Strings, u.StringTableSection, u.SymbolNamesSection = nil, 0, 0
		u.Symbols = append([]naive.Symbol(nil), u.Symbols...)
		for i := range u.Symbols {
			u.Symbols[i].StringIndex, u.Symbols[i].InfoSection = 0, 0
		}
		c.Units = append(c.Units, u)
	}
	return &c
}

// Random files of every legal shape read as the naive decoder reads them.
func TestReaderAgreesWithNaive(t *testing.T) {
	files := testenv.Rounds(400, 4000)
	for seed := range files {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		data, truth := gen.Random(r, gen.All())
		require.NotNil(t, truth)
		want := comparable(truth)
		reader, err := afdo.OpenBytes(data)
		require.NoError(t, err, "seed %d", seed)
		got, err := read(reader)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, reflect.DeepEqual(want, got), "seed %d reads as something else", seed)
		if seed%20 == 0 {
			checkLookups(t, reader, truth)
		}
		if seed%100 == 0 {
			for name, reader := range sources(t, data) {
				got, err := read(reader)
				require.NoError(t, err, "seed %d from %s", seed, name)
				require.True(t, reflect.DeepEqual(want, got), "seed %d reads as something else from %s", seed, name)
				checkLookups(t, reader, truth)
			}
		}
	}
}

// checkLookups finds each unit and symbol in every way there is.
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
	anywhere, err := r.Symbol(id)
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

// Repeated lookups go through a hash table and must find the same.
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

// A real profile that another implementation wrote reads the same from both modes, and adds up to
// the version 3 profile that it was made of.
func TestRealProfile(t *testing.T) {
	var files []*naive.File
	for _, name := range []string{"libgui.v4", "libgui.v4c"} {
		r, err := afdo.Open(testenv.Corpus(t, name))
		require.NoError(t, err)
		defer r.Close()
		f, err := read(r)
		require.NoError(t, err)
		data, err := os.ReadFile(testenv.Corpus(t, name))
		require.NoError(t, err)
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(comparable(truth), f), "the naive decoder reads something else")
		files = append(files, f)
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

// countsTwice reports whether a place of a body, or of one inlined in it, has two counts.
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
