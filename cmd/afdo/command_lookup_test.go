package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/textfmt"
)

// These types are the parts of the JSON of lookup that tests read.
type (
	jsonUnit struct {
		Unit       string       `json:"unit"`
		UnitBase64 string       `json:"unit_base64"`
		FirstID    uint32       `json:"first_id"`
		EndID      uint32       `json:"end_id"`
		Symbols    []jsonSymbol `json:"symbols"`
	}
	jsonSymbol struct {
		ID               uint32         `json:"id"`
		Name             string         `json:"name"`
		NameBase64       string         `json:"name_base64"`
		Demangled        string         `json:"demangled"`
		HasInfo          bool           `json:"has_info"`
		HeadCount        uint64         `json:"head_count"`
		Samples          uint64         `json:"samples"`
		Timestamp        uint64         `json:"timestamp"`
		Locations        []jsonLocation `json:"locations"`
		UnknownLocations int            `json:"unknown_locations"`
	}
	jsonLocation struct {
		Line          uint32        `json:"line"`
		Discriminator uint32        `json:"discriminator"`
		Count         *uint64       `json:"count"`
		Targets       *[]jsonCallee `json:"targets"`
		Inlined       *jsonCallee   `json:"inlined"`
	}
	jsonCallee struct {
		ID         uint32         `json:"id"`
		Name       string         `json:"name"`
		NameBase64 string         `json:"name_base64"`
		Demangled  string         `json:"demangled"`
		Unit       string         `json:"unit"`
		UnitBase64 string         `json:"unit_base64"`
		Count      uint64         `json:"count"`     // number of calls of a target
		Locations  []jsonLocation `json:"locations"` // locations of an inlined function
	}
)

// A naiveView converts a decoded file to what lookup --json must print.
type naiveView struct {
	names, units map[uint32]string
}

func newNaiveView(f *naive.File) *naiveView {
	v := &naiveView{make(map[uint32]string), make(map[uint32]string)}
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			v.names[s.ID], v.units[s.ID] = s.Name, u.Path
		}
	}
	return v
}

func (v *naiveView) unit(u naive.Unit) jsonUnit {
	j := jsonUnit{Unit: u.Path, FirstID: u.Start, EndID: u.End, Symbols: []jsonSymbol{}}
	for _, s := range u.Symbols {
		j.Symbols = append(j.Symbols, v.symbol(s))
	}
	return j
}

func (v *naiveView) symbol(s naive.Symbol) jsonSymbol {
	j := jsonSymbol{ID: s.ID, Name: s.Name, HasInfo: s.HasInfo}
	if s.HasInfo {
		j.HeadCount, j.Timestamp, j.UnknownLocations = s.Head, s.Timestamp, s.Skipped
		j.Locations = v.locations(s.Locations)
		j.Samples = naiveSum(0, s.Locations)
	}
	return j
}

func (v *naiveView) locations(locations []naive.Location) []jsonLocation {
	list := []jsonLocation{}
	for _, l := range locations {
		j := jsonLocation{Line: l.Line, Discriminator: l.Disc}
		switch l.Type {
		case naive.CalledFn, naive.CalledFns:
			targets := []jsonCallee{}
			for _, t := range l.Targets {
				target := v.callee(t.Callee)
				target.Count = t.Count
				targets = append(targets, target)
			}
			j.Targets = &targets
		case naive.InlinedFn:
			inlined := v.callee(l.Callee)
			inlined.Locations = v.locations(l.Locations)
			j.Inlined = &inlined
		default:
			j.Count = &l.Count
		}
		list = append(list, j)
	}
	return list
}

func (v *naiveView) callee(id uint32) jsonCallee {
	return jsonCallee{ID: id, Name: v.names[id], Unit: v.units[id]}
}

// restore replaces names by the bytes in their base64 members.
func (u *jsonUnit) restore(t *testing.T) {
	u.Unit, u.UnitBase64 = trueName(t, u.Unit, u.UnitBase64), ""
	for i := range u.Symbols {
		s := &u.Symbols[i]
		s.Name, s.NameBase64 = trueName(t, s.Name, s.NameBase64), ""
		restoreLocations(t, s.Locations)
	}
}

func restoreLocations(t *testing.T, locations []jsonLocation) {
	for _, l := range locations {
		if l.Inlined != nil {
			l.Inlined.restore(t)
		}
		if l.Targets != nil {
			for i := range *l.Targets {
				(*l.Targets)[i].restore(t)
			}
		}
	}
}

func (c *jsonCallee) restore(t *testing.T) {
	c.Name, c.NameBase64 = trueName(t, c.Name, c.NameBase64), ""
	c.Unit, c.UnitBase64 = trueName(t, c.Unit, c.UnitBase64), ""
	restoreLocations(t, c.Locations)
}

func lookupJSON(t *testing.T, args ...string) jsonUnit {
	t.Helper()
	units := lookupUnits(t, args...)
	require.Len(t, units, 1)
	return units[0]
}

func lookupUnits(t *testing.T, args ...string) []jsonUnit {
	t.Helper()
	var units []jsonUnit
	mustJSON(t, &units, append([]string{"lookup", "--json"}, args...)...)
	for i := range units {
		units[i].restore(t)
	}
	return units
}

func TestLookupJSONRandom(t *testing.T) {
	randomFiles(t, 200, func(t *testing.T, path string, truth *naive.File) {
		view := newNaiveView(truth)
		for _, u := range truth.Units {
			want := view.unit(u)
			require.Equal(t, want, lookupJSON(t, path, "--unit="+u.Path))
			for _, s := range want.Symbols {
				one := want
				one.Symbols = []jsonSymbol{s}
				require.Equal(t, one, lookupJSON(t, path, "--unit="+u.Path, "--symbol="+s.Name))
			}
		}
	})
}

// TestLookupTextRandom checks that lookup prints a unit or symbol as package textfmt does.
func TestLookupTextRandom(t *testing.T) {
	randomFiles(t, 100, func(t *testing.T, path string, _ *naive.File) {
		reader, err := afdo.Open(path)
		require.NoError(t, err)
		defer reader.Close()
		for u, err := range reader.Units() {
			require.NoError(t, err)
			var want strings.Builder
			check := func(err error, args ...string) {
				r := afdoRun(append([]string{"lookup", path, "--unit=" + u.Path()}, args...)...)
				if errors.Is(err, afdo.ErrUnrepresentable) {
					assert.Equal(t, cli.StatusFault, r.status)
					assert.Empty(t, r.out)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, result{out: want.String()}, r)
			}
			check(textfmt.PrintUnit(&want, reader, u))
			for s, err := range u.Symbols() {
				require.NoError(t, err)
				want.Reset()
				check(textfmt.PrintSymbol(&want, reader, s), "--symbol="+s.Name())
			}
		}
	})
}

// TestLookupSearchRandom looks up symbols without naming a unit. The output has the same form as
// that of a lookup in one unit.
func TestLookupSearchRandom(t *testing.T) {
	randomFiles(t, 50, func(t *testing.T, path string, truth *naive.File) {
		view := newNaiveView(truth)
		want := make(map[string][]jsonUnit)
		for _, u := range truth.Units {
			whole := view.unit(u)
			for i, s := range u.Symbols {
				one := whole
				one.Symbols = whole.Symbols[i : i+1]
				want[s.Name] = append(want[s.Name], one)
			}
		}
		for name, units := range want {
			require.Equal(t, units, lookupUnits(t, path, "--symbol="+name))
			r := afdoRun("lookup", path, "--symbol="+name)
			require.Equal(t, 0, r.status, r.err)
			list, _, _ := strings.Cut(r.out, "\n\n")
			assert.Equal(t, 1+len(units), strings.Count(strings.TrimSpace(list), "\n")+1)
		}
	})
}

// TestLookupFormats checks that lookup finds the same unit in every format that has units.
func TestLookupFormats(t *testing.T) {
	want := must(t, "lookup", example(".afdo"), "--unit", "cart.cc", "--demangle")
	assert.Contains(t, want, `"shop::Cart::total(shop::Discount const&) const"`)
	for _, form := range forms {
		if form.format == anyprof.V2 {
			continue
		}
		assert.Equal(t, want, must(t, "lookup", example(form.extension), "--unit", "cart.cc", "--demangle"), form.extension)
	}
	old := must(t, "lookup", example(".v2.afdo"), "--unit", "", "--symbol", "main")
	assert.Contains(t, old, `"main":-1(`)
}

func TestLookupDemangledJSON(t *testing.T) {
	u := lookupJSON(t, example(".afdo"), "--unit", "cart.cc", "--symbol", "_ZN4shop4Cart3addERKNS_4ItemE", "--demangle")
	require.Len(t, u.Symbols, 1)
	assert.Equal(t, "shop::Cart::add(shop::Item const&)", u.Symbols[0].Demangled)
	var callees []string
	for _, l := range u.Symbols[0].Locations {
		if l.Targets != nil {
			callees = append(callees, (*l.Targets)[0].Demangled)
		}
		if l.Inlined != nil {
			callees = append(callees, l.Inlined.Demangled)
		}
	}
	assert.ElementsMatch(t, []string{"operator new(unsigned long)", "memcpy", "shop::Cart::full() const"}, callees)
}

func TestLookupHostile(t *testing.T) {
	levels := testenv.Rounds(1_500, 100_000)
	deep := writeFile(t, "deep", gen.Nested(levels, true))
	out := must(t, "lookup", deep, "--unit", gen.HostilePath, "--json")
	assert.Equal(t, levels, strings.Count(out, `"inlined": {"id": 0, "name": "f", "unit": "hostile.c", "locations": [`))
	assert.Equal(t, strings.Count(out, "{"), strings.Count(out, "}"))
	shallow := must(t, "lookup", writeFile(t, "shallow", gen.Nested(500, true)), "--unit", gen.HostilePath, "--json")
	assert.True(t, json.Valid([]byte(shallow)))
	assert.Equal(t, levels, strings.Count(must(t, "lookup", deep, "--unit", gen.HostilePath), "inlined = {"))

	shared := writeFile(t, "shared", sharedInfo(t, 10_000, 10_000))
	for _, args := range [][]string{
		{"lookup", shared, "--unit", "shared.c"},
		{"lookup", shared, "--unit", "shared.c", "--json"},
	} {
		r := afdoRun(args...)
		assert.Equal(t, cli.StatusFault, r.status, "%q", args)
		assert.Contains(t, r.err, "limit exceeded", "%q", args)
	}

	dangling := &naive.File{Units: []naive.Unit{
		{Path: "a.c", End: 1, Symbols: []naive.Symbol{{Name: "f", HasInfo: true, Locations: []naive.Location{gen.Inlined(1, 0, 99)}}}},
		{Start: 1, End: 1},
	}}
	r := afdoRun("lookup", writeFile(t, "dangling", gen.Encode(dangling, false)), "--unit", "a.c", "--json")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, `unit \"a.c\", symbol \"f\": callee: symbol ID 99: not found"`)
	assert.Empty(t, r.out)
}

func TestLookupNearMatchesOfManySymbols(t *testing.T) {
	path := testenv.Corpus(t, "libgui.v4c")
	r := afdoRun("lookup", path, "--symbol", "android::Surface::disconect")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, `near: "_ZN7android7Surface10disconnectEiNS_22IGraphicBufferProducer14DisconnectModeE"`)
	r = afdoRun("lookup", path, "--unit", "Surface.cpp")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Equal(t, "afdo: "+path+": unit \"Surface.cpp\": ambiguous, it may be\n"+
		"  src/android/Surface.cpp\n  src/android/view/Surface.cpp\n", r.err)
}

func TestLookupCorpus(t *testing.T) {
	path := testenv.Corpus(t, "libgui.v4c")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	view := newNaiveView(truth)
	for i := 0; i < len(truth.Units); i += 20 {
		require.Equal(t, view.unit(truth.Units[i]), lookupJSON(t, path, "--unit="+truth.Units[i].Path))
	}
}

// TestLookupInlined looks up a function that a sample profile has only as inlined in others: the
// error lists those.
func TestLookupInlined(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.txt")
	text := "main:30:1\n 1: _ZN4shop5totalEi:20\n  1: 20\n 2: _ZN4shop5totalEi:5\n  1: 5\n 3: 5\nother:9:1\n 1: _ZN4shop5totalEi:9\n  1: 9\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	for _, name := range []string{"_ZN4shop5totalEi", "shop::total", "total"} {
		r := afdoRun("lookup", path, "--symbol", name)
		require.Equal(t, cli.StatusFault, r.status)
		require.Empty(t, r.out)
		require.Equal(t, "afdo: "+path+": function \""+name+"\": it has no body of its own; it is inlined in\n  main\n  other\n", r.err)
	}
	require.Contains(t, afdoRun("lookup", path, "--symbol", "total", "-n", "1").err, " inlined in\n  main\n  1 more\n")
	require.Equal(t, "afdo: "+path+": function \"nothing\": not found\n", afdoRun("lookup", path, "--symbol", "nothing").err)
}

// TestLookupInlinedIn checks that lookup lists the functions in which a symbol without samples of
// its own is inlined, if an index has them or the file was read as a whole. Otherwise lookup prints
// a hint.
func TestLookupInlinedIn(t *testing.T) {
	const in = "\nInlined in\n"
	indexed := filepath.Join(t.TempDir(), "indexed.afdo")
	must(t, "index", example(".afdo"), "-o", indexed)
	for _, path := range []string{indexed, example(".v3.afdo"), example(".txt")} {
		want := "Samples  Head count  Unit\n   none              include/price.h\n" + in +
			"  shop::Cart::total(shop::Discount const&) const  src/cart.cc\n" +
			"  shop::PercentDiscount::apply(double) const      src/discount.cc\n"
		assert.Equal(t, want, must(t, "lookup", path, "--symbol", "shop::roundCent", "--demangle"), path)
		assert.NotContains(t, must(t, "lookup", path, "--symbol", "memcpy"), in, "only called")
		assert.NotContains(t, must(t, "lookup", path, "--symbol", "main"), in, "has samples")
	}
	assert.Contains(t, must(t, "lookup", indexed, "--symbol", "shop::roundCent", "-n", "1", "--demangle"),
		in+"  shop::Cart::total(shop::Discount const&) const  src/cart.cc\n  1 more\n")
	r := afdoRun("lookup", example(".afdo"), "--symbol", "shop::roundCent")
	require.Equal(t, 0, r.status)
	assert.NotContains(t, r.out, in)
	assert.Contains(t, r.err, "has no index, so it is unknown in which functions this is inlined")
}

// TestLookupInlinedInRandom compares this list with the result of a walk through the whole file.
func TestLookupInlinedInRandom(t *testing.T) {
	indexed := filepath.Join(t.TempDir(), "indexed.afdo")
	randomFiles(t, 20, func(t *testing.T, path string, truth *naive.File) {
		if r := afdoRun("index", path, "-o", indexed); r.status != 0 {
			return
		}
		want := inlinedIn(truth)
		for name, outer := range want {
			out := must(t, "lookup", indexed, "--symbol="+name)
			_, list, _ := strings.Cut(out, "\nInlined in\n")
			assert.Equal(t, len(outer), strings.Count(list, "\n"), "%q: %s", name, out)
		}
	})
}

// inlinedIn returns, for the name of each symbol without samples of its own, the IDs of the
// functions in which a symbol with this name is inlined.
func inlinedIn(f *naive.File) map[string]map[uint32]bool {
	names := make(map[uint32]string)
	in := make(map[string]map[uint32]bool)
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			if !s.HasInfo {
				names[s.ID] = s.Name
				in[s.Name] = make(map[uint32]bool)
			}
		}
	}
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			var walk func([]naive.Location)
			walk = func(locations []naive.Location) {
				for _, l := range locations {
					if name, ok := names[l.Callee]; ok && l.Type == naive.InlinedFn {
						in[name][s.ID] = true
					}
					walk(l.Locations)
				}
			}
			walk(s.Locations)
		}
	}
	return in
}
