package profile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func read(t *testing.T, data []byte) *Profile {
	t.Helper()
	p, err := tryRead(data)
	require.NoError(t, err)
	return p
}

func tryRead(data []byte) (*Profile, error) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	return Read(r)
}

// meaning converts a profile to the naive decoder's model, for a comparison.
func meaning(p *Profile) *naive.Profile {
	m := &naive.Profile{Symbols: map[naive.Key]bool{}, Functions: map[naive.Key]*naive.Function{}}
	for s := range p.NumSymbols() {
		m.Symbols[keyOf(p, SymbolRef(s))] = true
	}
	for s, f := range p.Functions() {
		m.Functions[keyOf(p, s)] = &naive.Function{Head: f.HeadCount, Timestamp: f.Timestamp, Body: bodyOf(p, f.Records)}
	}
	return m
}

func keyOf(p *Profile, s SymbolRef) naive.Key {
	return naive.Key{Path: p.UnitPath(p.SymbolUnit(s)), Name: p.SymbolName(s)}
}

func bodyOf(p *Profile, records []Record) *naive.Body {
	b := &naive.Body{
		Counts:  map[naive.Place]uint64{},
		Calls:   map[naive.Place]map[naive.Key]uint64{},
		Inlined: map[naive.Place]map[naive.Key]*naive.Body{},
	}
	for i := 0; i < len(records); i++ {
		r := records[i]
		at := naive.Place{Line: r.Line, Disc: r.Discriminator}
		switch r.Kind {
		case KindCount:
			b.Counts[at] = r.Count
		case KindCall:
			if b.Calls[at] == nil {
				b.Calls[at] = map[naive.Key]uint64{}
			}
			b.Calls[at][keyOf(p, r.Callee)] = r.Count
		case KindInlined:
			if b.Inlined[at] == nil {
				b.Inlined[at] = map[naive.Key]*naive.Body{}
			}
			b.Inlined[at][keyOf(p, r.Callee)] = bodyOf(p, records[i+1:i+1+int(r.Count)])
			i += int(r.Count)
		}
	}
	return b
}

func summaryOf(s *afdo.Summary) naive.Summary {
	n := naive.Summary{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFnCount: s.MaxFunctionCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions,
	}
	for _, e := range s.Entries {
		n.Entries = append(n.Entries, naive.Entry(e))
	}
	return n
}

func TestReadAgainstNaive(t *testing.T) {
	all := gen.All()
	odd := gen.All()
	odd.Dangling, odd.DeadEnds = true, true
	for name, options := range map[string]gen.Options{"plain": {}, "compact": {Compact: true}, "all": all, "odd": odd} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for seed := range uint64(testenv.Rounds(40, 400)) {
				data, truth := gen.Random(rand.New(rand.NewPCG(seed, 1)), options)
				want, err := truth.Canonical()
				got, gotErr := tryRead(data)
				if err != nil {
					failed++
					require.ErrorIs(t, gotErr, afdo.ErrSymbol, "seed %d", seed)
					require.ErrorIs(t, gotErr, afdo.ErrMalformed, "seed %d", seed)
					require.Nil(t, got)
					continue
				}
				require.NoError(t, gotErr, "seed %d", seed)
				require.Equal(t, want, meaning(got), "seed %d", seed)
				require.Equal(t, truth.Summary, summaryOf(got.Summary), "seed %d", seed)
				require.Equal(t, want.Summarize(), summaryOf(got.Summarize()), "seed %d", seed)
				requireUnits(t, truth, got)
				for _, f := range got.Functions() {
					requireCanonical(t, f.Records)
				}
			}
			assert.Equal(t, options.Dangling, failed > 0)
		})
	}
}

// requireUnits checks that units are in file order.
func requireUnits(t *testing.T, truth *naive.File, p *Profile) {
	t.Helper()
	next := UnitRef(1)
	for _, u := range truth.Units {
		if u.Path == "" {
			continue
		}
		require.Equal(t, u.Path, p.UnitPath(next))
		next++
	}
	require.EqualValues(t, next, p.NumUnits())
}

func TestReadExample(t *testing.T) {
	for _, compact := range []bool{false, true} {
		p := read(t, gen.RFCExample(compact))
		require.NoError(t, Compare(rfcExample(), p))
		require.Equal(t, p.Summary, p.Summarize())
	}
}

// TestReadSources reads a file through each kind of Reader.
func TestReadSources(t *testing.T) {
	data, _ := gen.Random(rand.New(rand.NewPCG(5, 1)), gen.All())
	want := read(t, data)

	at, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	mapped, err := afdo.Open(path)
	require.NoError(t, err)
	for _, r := range []*afdo.Reader{at, mapped} {
		got, err := Read(r)
		require.NoError(t, err)
		require.NoError(t, Compare(want, got))
		require.NoError(t, r.Close())
		_, err = Read(r)
		require.ErrorIs(t, err, afdo.ErrClosed)
	}
}

func TestReadDeep(t *testing.T) {
	for _, compact := range []bool{false, true} {
		p := read(t, gen.Nested(deep, compact))
		f := p.Function(0)
		require.Len(t, f.Records, deep+1)
		assert.EqualValues(t, deep, f.Records[0].Count)
		assert.Equal(t, Record{Line: 2, Count: 7}, f.Records[deep])
		assert.NoError(t, Compare(p, merged(p)))
	}
}

// TestReadUnknownCallee checks the byte offset in the error about an unknown callee.
func TestReadUnknownCallee(t *testing.T) {
	const noSymbol = 4711
	tests := map[string]struct {
		body   []naive.Location
		offset int64 // from the first record
	}{
		"inlined": {[]naive.Location{gen.Count(1, 0, 5), gen.Inlined(2, 0, noSymbol)}, 8},
		"called":  {[]naive.Location{{Type: naive.CalledFn, Targets: []naive.Target{{Callee: noSymbol}}}}, 4},
		"one of several": {[]naive.Location{{Type: naive.CalledFns, Targets: []naive.Target{
			{Callee: 1}, {Callee: noSymbol}, {Callee: 1},
		}}}, 4 + 4 + 12},
		"nested": {[]naive.Location{gen.Inlined(2, 0, 1, gen.Inlined(2, 0, noSymbol))}, 4 + 4 + 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := &naive.File{Units: []naive.Unit{
				{Path: "a.c", Start: 1, End: 2, Symbols: []naive.Symbol{
					{ID: 1, Name: "f", HasInfo: true, Head: 1, Locations: test.body},
				}},
				{Start: 2, End: 2},
			}}
			data, sections := gen.Lay(f, false).Assemble()
			_, err := tryRead(data)
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format)
			info := sections[format.Section]
			assert.Equal(t, &afdo.FormatError{
				Format:  "afdo",
				Section: format.Section,
				Part:    afdo.SectionSymbolInfo.String(),
				Offset:  info.Offset + 1 + 8 + 8 + 4 + test.offset,
				Err:     afdo.ErrSymbol,
				Detail:  "a callee of symbol ID 4711, which no unit has",
			}, format)
			assert.EqualValues(t, naive.SymbolInfo, info.Type)
			assert.ErrorContains(t, err, `profile: unit "a.c", symbol "f": afdo: `)
		})
	}
}

// TestReadLimits reads files whose decoded contents are many times larger than the files.
func TestReadLimits(t *testing.T) {
	t.Run("units", func(t *testing.T) { // each takes 18 bytes, and 2 KiB while an index is made
		shared := func(units uint32) []byte {
			h := gen.NewHandmade(true)
			names, rows := h.Section(naive.StringTable, gen.OneString("f")), h.Section(naive.SymbolNames, gen.NoRows)
			for i := range units {
				h.Unit(strconv.Itoa(int(i)), names, rows, i, i+1)
			}
			return h.Bytes()
		}
		_, err := tryRead(shared(5_000))
		require.NoError(t, err)
		_, err = tryRead(shared(50_000))
		require.ErrorIs(t, err, afdo.ErrLimit)
		assert.ErrorContains(t, err, "profile: too many units share their tables")
	})
	t.Run("names", func(t *testing.T) {
		p := read(t, gen.HugeNames(1_500, 10_000, true))
		assert.Equal(t, 10_000, p.NumSymbols())
		_, err := tryRead(gen.HugeNames(20_000, 10_000, true))
		require.ErrorIs(t, err, afdo.ErrLimit)
	})
	t.Run("shared samples", func(t *testing.T) {
		for _, symbols := range []uint32{10, 10_000} {
			f := &naive.File{Units: []naive.Unit{{Path: "a.c", End: symbols}, {Start: symbols, End: symbols}}}
			for id := range symbols {
				f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: id, Name: fmt.Sprint(id)})
			}
			large := &f.Units[0].Symbols[0]
			large.HasInfo = true
			for line := range uint32(10_000) {
				large.Locations = append(large.Locations, gen.Count(line, 0, 1))
			}
			// All symbols refer to the first one's samples.
			l := gen.Lay(f, false)
			shared := uint32(len(l.Sections))
			for i, s := range l.Sections {
				if s.Type == naive.SymbolInfo {
					shared = uint32(i)
				}
			}
			_, rows := gen.UnitSections(f, 0)
			e := gen.Enc{}
			e.U32(symbols)
			for id := range symbols {
				e.U32(id)
				e.U32(id)
				e.U32(shared)
			}
			l.Sections[rows].Data = e.Buf

			data := l.Bytes()
			r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			var p *Profile
			assert.Less(t, allocated(func() { p, err = Read(r) }), uint64(100*len(data)))
			if symbols == 10 {
				require.NoError(t, err)
				assert.Equal(t, 10, p.NumFunctions())
				continue
			}
			require.ErrorIs(t, err, afdo.ErrLimit)
		}
	})
}

// TestReadDamaged changes single bytes of valid files. Read then returns an error, or the same
// profile as the naive decoder.
func TestReadDamaged(t *testing.T) {
	bad := 0
	for seed := range uint64(testenv.Rounds(6, 60)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		data, _ := gen.Random(rng, gen.All())
		for i := range 100 {
			damaged := bytes.Clone(data)
			damaged[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			want, wantErr := naiveRead(damaged)
			got, err := tryRead(damaged)
			if wantErr != nil {
				require.Error(t, err, "seed %d, change %d: %v", seed, i, wantErr)
				require.Nil(t, got)
				bad++
				continue
			}
			if errors.Is(err, afdo.ErrUnused) { // the naive decoder does not look for samples without a symbol
				continue
			}
			if errors.Is(err, afdo.ErrSummary) { // nor whether the summary counts samples that the file does not have
				require.Empty(t, want.Functions)
				continue
			}
			require.NoError(t, err, "seed %d, change %d", seed, i)
			require.Equal(t, want, meaning(got), "seed %d, change %d", seed, i)
		}
	}
	assert.Greater(t, bad, testenv.Rounds(100, 1000))
}

func naiveRead(data []byte) (*naive.Profile, error) {
	f, err := naive.Decode(data)
	if err != nil {
		return nil, err
	}
	return f.Canonical()
}

// corpus returns a real profile, and skips the test where there is none.
func corpus(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, name))
	require.NoError(t, err)
	return data
}

func TestReadCorpus(t *testing.T) {
	p, q := read(t, corpus(t, "libgui.v4")), read(t, corpus(t, "libgui.v4c"))
	assert.NoError(t, Compare(p, q))
	assert.Equal(t, 7482, p.NumSymbols())
	assert.Equal(t, 1596-46, p.NumFunctions(), "46 infos say nothing")
	assert.EqualValues(t, p.Summary.NumCounts-36, p.Summarize().NumCounts, "36 counts are of places that have another")
	assert.Equal(t, p.Summary.TotalCount, p.Summarize().TotalCount)

	f, err := naive.Decode(corpus(t, "libgui.v4"))
	require.NoError(t, err)
	want, err := f.Canonical()
	require.NoError(t, err)
	assert.Equal(t, want, meaning(p))
	assert.Equal(t, want.Summarize(), summaryOf(p.Summarize()))
}

// The samples of a unit in a mapped file are read together, because each read takes a system call,
// which compares the state of the file, and allocates.
func TestReadUnitsTogether(t *testing.T) {
	const functions = 2_000
	h := gen.NewHandmade(true)
	names := h.Section(naive.StringTable, gen.Comb(1, functions))
	first := uint32(0)
	for i := range functions {
		if s := h.Section(naive.SymbolInfo, gen.ManyCounts(3)); i == 0 {
			first = s
		}
	}
	h.Unit("a.c", names, h.Section(naive.SymbolNames, func(e *gen.Enc) {
		e.U32(functions)
		for i := range uint32(functions) {
			e.U32(i)
			e.U32(i)
			e.U32(first + i)
		}
	}), 0, functions)
	path := filepath.Join(t.TempDir(), "big.afdo")
	require.NoError(t, os.WriteFile(path, h.Bytes(), 0o666))
	allocations := testing.AllocsPerRun(1, func() {
		r, err := afdo.Open(path)
		require.NoError(t, err)
		defer r.Close()
		p, err := Read(r)
		require.NoError(t, err)
		require.Equal(t, functions, p.NumFunctions())
	})
	require.Less(t, int(allocations), functions/2)
}
