package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func showJSON(t *testing.T, path string) *gcovkind.ShowFacts {
	t.Helper()
	f := new(gcovkind.ShowFacts)
	mustJSON(t, f, "show", "--json", path)
	return f
}

func TestShowRandom(t *testing.T) {
	randomFiles(t, 300, func(t *testing.T, path string, truth *naive.File) {
		checkShow(t, showJSON(t, path), truth)
		must(t, "show", path)
	})
}

// checkShow compares the output of show with the file as an independent decoder reads it.
func checkShow(t *testing.T, f *gcovkind.ShowFacts, truth *naive.File) {
	t.Helper()
	assert.Equal(t, truth.Compact, f.Compact)
	assert.Equal(t, map[bool]string{false: "v4", true: "v4c"}[truth.Compact], f.Format)
	assert.Equal(t, f.Size, f.V4Size)
	assert.Equal(t, naiveSizes(truth, f.Size), sizesByKind(f))

	s := truth.Summary
	assert.Equal(t, []uint64{s.TotalCount, s.MaxCount, s.MaxFnCount, s.NumCounts, s.NumFunctions},
		[]uint64{f.Summary.TotalCount, f.Summary.MaxCount, f.Summary.MaxFunctionCount, f.Summary.NumCounts, f.Summary.NumFunctions})
	require.Len(t, f.Summary.Entries, len(s.Entries))
	for i, e := range s.Entries {
		assert.Equal(t, kind.EntryFacts{Cutoff: uint64(e.Cutoff), MinCount: e.MinCount, NumCounts: e.NumCounts}, f.Summary.Entries[i])
	}

	var symbols, functions uint64
	var records gcovkind.RecordFacts
	for _, u := range truth.Units {
		for _, s := range u.Symbols {
			symbols++
			if s.HasInfo {
				functions++
			}
			records.Unknown += uint64(s.Skipped)
			addNaiveRecords(&records, s.Locations, 0)
		}
	}
	assert.EqualValues(t, len(truth.Units), f.Units)
	assert.Equal(t, symbols, f.Symbols)
	assert.Equal(t, functions, f.Functions)
	assert.Equal(t, records, f.Records)
}

func addNaiveRecords(f *gcovkind.RecordFacts, locations []naive.Location, depth int) {
	f.MaxDepth = max(f.MaxDepth, depth)
	for _, l := range locations {
		switch l.Type {
		case naive.Zero:
			f.Zero++
		case naive.Normal:
			f.Normal++
		case naive.Wide:
			f.Wide++
		case naive.CalledFn:
			f.CalledFn++
		case naive.CalledFns:
			f.CalledFns++
		case naive.InlinedFn:
			f.InlinedFn++
			addNaiveRecords(f, l.Locations, depth+1)
		}
		f.CallTargets += uint64(len(l.Targets))
	}
}

type kindSize struct {
	count, compact uint64
	bytes          int64
}

// naiveSizes returns how many bytes of a file belong to the header, to gaps and to sections of each
// type, called "type N".
func naiveSizes(truth *naive.File, size int64) map[string]kindSize {
	sizes := make(map[string]kindSize)
	owner := make([]string, size)
	for _, s := range truth.Sections {
		kind := fmt.Sprint("type ", s.Type)
		for i := range s.Size {
			owner[s.Offset+i] = kind
		}
		k := sizes[kind]
		k.count++
		if s.Compact {
			k.compact++
		}
		sizes[kind] = k
	}
	for i := int64(0); i < size && owner[i] == ""; i++ {
		owner[i] = "header"
	}
	sizes["header"] = kindSize{count: 1}
	for i, kind := range owner {
		if kind == "" {
			kind = "gap"
		}
		k := sizes[kind]
		k.bytes++
		if kind == "gap" && owner[i-1] != "" {
			k.count++
		}
		sizes[kind] = k
	}
	return sizes
}

func sizesByKind(f *gcovkind.ShowFacts) map[string]kindSize {
	sizes := make(map[string]kindSize)
	for _, s := range f.Sections {
		kind := s.Kind
		if s.Type != nil {
			kind = fmt.Sprint("type ", *s.Type)
		}
		sizes[kind] = kindSize{s.Count, s.Compact, s.Bytes}
	}
	return sizes
}

func TestShowSharesAddUp(t *testing.T) {
	f := showJSON(t, example(".afdo"))
	var share float64
	var bytes int64
	for _, s := range f.Sections {
		share += s.Share
		bytes += s.Bytes
	}
	assert.Equal(t, f.Size, bytes)
	assert.InDelta(t, 1, share, 1e-9)
}

// TestShowFormats checks that show prints the same contents for each format of a profile.
func TestShowFormats(t *testing.T) {
	want := showJSON(t, example(".afdo"))
	for _, form := range forms {
		path := example(form.extension)
		info, err := os.Stat(path)
		require.NoError(t, err)
		f := showJSON(t, path)
		assert.Equal(t, form.format.String(), f.Format)
		assert.Equal(t, form.order, f.ByteOrder)
		assert.Equal(t, info.Size(), f.Size)
		assert.Equal(t, want.Records, f.Records, path)
		assert.Equal(t, want.Functions, f.Functions, path)
		assert.Equal(t, want.Summary, f.Summary, path)
		if form.format != anyprof.V2 { // which has no units
			assert.Equal(t, want.Units, f.Units, path)
			assert.Equal(t, want.Symbols, f.Symbols, path)
		}
	}
}

func TestShowUnknown(t *testing.T) {
	l := gen.Lay(&naive.File{Units: []naive.Unit{{}}}, false)
	l.Add(gen.Section{Type: 0x2a, Compact: true, Data: []byte("later")})
	out := must(t, "show", writeFile(t, "x", l.Bytes()))
	assert.Regexp(t, `\n  type 0x2a \(unknown\) +1  compact +6 +\d+\.\d\d%\n`, out)
	assert.NotContains(t, out, "Detailed summary")
}

func TestShowHostile(t *testing.T) {
	levels := testenv.Rounds(2e5, 1e6)
	deep := showJSON(t, writeFile(t, "deep", gen.Nested(levels, true)))
	assert.Equal(t, gcovkind.RecordFacts{Normal: 1, InlinedFn: uint64(levels), MaxDepth: levels}, deep.Records)

	shared := writeFile(t, "shared", sharedInfo(t, 10_000, 10_000))
	r := afdoRun("show", shared)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "too many symbols share the sections of their samples: limit exceeded")
}

// sharedInfo returns a legal file in which n symbols share one symbol info with the given number of
// records.
func sharedInfo(t *testing.T, n, records int) []byte {
	t.Helper()
	u := naive.Unit{Path: "shared.c", End: uint32(n)}
	first := naive.Symbol{Name: "f0", HasInfo: true}
	for range records {
		first.Locations = append(first.Locations, gen.Count(1, 0, 1))
	}
	u.Symbols = append(u.Symbols, first)
	for i := 1; i < n; i++ {
		u.Symbols = append(u.Symbols, naive.Symbol{ID: uint32(i), Name: fmt.Sprint("f", i)})
	}
	f := &naive.File{Units: []naive.Unit{u, {Start: uint32(n), End: uint32(n)}}}
	l := gen.Lay(f, false)
	_, rows := gen.UnitSections(f, 0)
	e := &gen.Enc{}
	e.U32(uint32(n))
	for i := range uint32(n) {
		e.U32(i)
		e.U32(i)
		e.U32(uint32(rows + 1))
	}
	l.Sections[rows].Data = e.Buf
	data := l.Bytes()
	_, err := naive.Decode(data)
	require.NoError(t, err)
	return data
}

func TestShowCorpus(t *testing.T) {
	for _, name := range []string{"libgui.v4c", "libgui.v4"}[:testenv.Rounds(1, 2)] {
		path := testenv.Corpus(t, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		checkShow(t, showJSON(t, path), truth)
	}

	path := testenv.Corpus(t, "libgui.v3")
	old := showJSON(t, path)
	p := load(t, path)
	assert.EqualValues(t, p.NumFunctions(), old.Functions)
	assert.EqualValues(t, p.NumSymbols(), old.Symbols)
	assert.EqualValues(t, 1596, old.Summary.NumFunctions, "the summary is the file's own")
}
