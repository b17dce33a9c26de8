package main

import (
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile"
)

// topSymbol is a symbol in the JSON of top.
type topSymbol struct {
	Name            string `json:"name"`
	NameBase64      string `json:"name_base64"`
	Demangled       string `json:"demangled"`
	DemangledBase64 string `json:"demangled_base64"`
	Unit            string `json:"unit"`
	UnitBase64      string `json:"unit_base64"`
}

func (s *topSymbol) key(t *testing.T) naive.Key {
	t.Helper()
	return naive.Key{Path: trueName(t, s.Unit, s.UnitBase64), Name: trueName(t, s.Name, s.NameBase64)}
}

type topFunctions struct {
	Total     uint64        `json:"total"`
	Functions []topFunction `json:"functions"`
	LeftOut   int           `json:"left_out"`
}

type topFunction struct {
	topSymbol
	Own        uint64  `json:"own"`
	OwnShare   float64 `json:"own_share"`
	SumShare   float64 `json:"sum_share"`
	Total      uint64  `json:"total"`
	TotalShare float64 `json:"total_share"`
	HeadCount  uint64  `json:"head_count"`
}

type topCalls struct {
	Total uint64 `json:"total"`
	Calls []struct {
		Caller        topSymbol `json:"caller"`
		Line          uint32    `json:"line"`
		Discriminator uint32    `json:"discriminator"`
		Callee        topSymbol `json:"callee"`
		Count         uint64    `json:"count"`
		Share         float64   `json:"share"`
		SumShare      float64   `json:"sum_share"`
	} `json:"calls"`
	LeftOut int `json:"left_out"`
}

func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	r, err := afdo.Open(path)
	require.NoError(t, err)
	defer r.Close()
	p, err := profile.Read(r)
	require.NoError(t, err)
	return p
}

// TestTopRandom compares the output of top with the ranking of package rank, whose own tests
// compare it with a slow, simple implementation.
func TestTopRandom(t *testing.T) {
	randomFiles(t, 100, func(t *testing.T, path string, _ *naive.File) {
		p := readProfile(t, path)
		r := rank.New(p)
		var all topFunctions
		mustJSON(t, &all, "top", "--json", "-n0", path)
		assert.Equal(t, r.Total, all.Total)
		assert.Zero(t, all.LeftOut)
		sampled := 0
		for i := range r.Symbols {
			if r.Symbols[i].Sampled() {
				sampled++
			}
		}
		require.Len(t, all.Functions, sampled)
		own := uint64(0)
		for i := range all.Functions {
			f := &all.Functions[i]
			k := f.key(t)
			s, ok := p.FindSymbol(p.AddUnit(k.Path), k.Name)
			require.True(t, ok)
			want := r.Symbols[s]
			assert.Equal(t, []uint64{want.Own, want.Total, want.Head}, []uint64{f.Own, f.Total, f.HeadCount})
			own = saturating.Add(own, f.Own)
			if i > 0 {
				assert.GreaterOrEqual(t, all.Functions[i-1].Own, f.Own)
			}
			if r.Total > 0 {
				assert.InDelta(t, float64(f.Own)/float64(r.Total), f.OwnShare, 1e-9)
				assert.InDelta(t, float64(own)/float64(r.Total), f.SumShare, 1e-9)
				assert.InDelta(t, float64(f.Total)/float64(r.Total), f.TotalShare, 1e-9)
			}
		}
		assert.Equal(t, r.Total, own)

		var few topFunctions
		mustJSON(t, &few, "top", "--json", "-n2", path)
		assert.Equal(t, all.Functions[:min(2, sampled)], few.Functions)
		assert.Equal(t, sampled-len(few.Functions), few.LeftOut)

		calls := rank.Calls(p)
		var got topCalls
		mustJSON(t, &got, "top", "--json", "--calls", "-n0", path)
		require.Len(t, got.Calls, len(calls))
		total := uint64(0)
		for i, c := range calls {
			g := &got.Calls[i]
			assert.Equal(t, naive.Key{Path: p.UnitPath(p.SymbolUnit(c.Caller)), Name: p.SymbolName(c.Caller)}, g.Caller.key(t))
			assert.Equal(t, naive.Key{Path: p.UnitPath(p.SymbolUnit(c.Callee)), Name: p.SymbolName(c.Callee)}, g.Callee.key(t))
			assert.Equal(t, []uint64{uint64(c.Line), uint64(c.Discriminator), c.Count}, []uint64{uint64(g.Line), uint64(g.Discriminator), g.Count})
			total = saturating.Add(total, c.Count)
		}
		assert.Equal(t, total, got.Total)
	})
}

// TestTopUnitIsThatOfLookup checks that top and lookup find the same unit for the same path.
func TestTopUnitIsThatOfLookup(t *testing.T) {
	ambiguous := 0
	randomFiles(t, 100, func(t *testing.T, path string, truth *naive.File) {
		r, err := afdo.Open(path)
		require.NoError(t, err)
		defer r.Close()
		p := readProfile(t, path)
		wanted := []string{"", human.UnknownUnit, "nonsense", "/"}
		for _, u := range truth.Units {
			wanted = append(wanted, u.Path)
			for i := range u.Path {
				if u.Path[i] == '/' {
					wanted = append(wanted, u.Path[i:], u.Path[i+1:])
				}
			}
		}
		for _, want := range wanted {
			u, err := find.Unit(r, want)
			f, errHere := find.File(p, want)
			if err != nil && (want == "" || want == human.UnknownUnit) {
				continue // the file has no unit of unknown files, a profile always has
			}
			if err != nil {
				if errors.Is(err, afdo.ErrAmbiguous) {
					require.EqualError(t, errHere, err.Error(), "%q", want)
					ambiguous++
					continue
				}
				require.ErrorIs(t, err, afdo.ErrNotFound)
				require.ErrorIs(t, errHere, afdo.ErrNotFound)
				continue
			}
			require.NoError(t, errHere)
			require.Equal(t, u.Path(), p.UnitPath(f), "%q", want)
		}
	})
	assert.NotZero(t, ambiguous)
}

func TestTopOfOneUnit(t *testing.T) {
	var whole, unit topFunctions
	mustJSON(t, &whole, "top", "--json", "-n0", example(".afdo"))
	mustJSON(t, &unit, "top", "--json", "--unit", "price.h", example(".afdo"))
	assert.Equal(t, whole.Total, unit.Total)
	require.Len(t, unit.Functions, 2)
	for _, f := range unit.Functions {
		assert.Equal(t, "include/price.h", f.Unit)
		i := slices.IndexFunc(whole.Functions, func(g topFunction) bool { return g.Name == f.Name })
		f.SumShare = whole.Functions[i].SumShare
		assert.Equal(t, whole.Functions[i], f)
	}
}

// TestTopCallsBeforeDeclaration checks that top prints -1 for a call at the line before the
// declaration, which a profile stores as 65,535.
func TestTopCallsBeforeDeclaration(t *testing.T) {
	p := profile.New()
	unit := p.AddUnit("a.c")
	f, g := p.AddSymbol(unit, "f"), p.AddSymbol(unit, "g")
	var b profile.Body
	b.Call(65535, 2, g, 7)
	p.AddFunction(f, profile.Function{Records: b.Records()})
	assert.Contains(t, must(t, "top", "--calls", writeV4(t, p)), "f:-1.2 -> g")
}

func TestShare(t *testing.T) {
	assert.Zero(t, human.Share(0, 0))
	assert.Equal(t, 0.25, human.Share(1, 4))
	assert.Equal(t, 1.0, human.Share(math.MaxUint64, math.MaxUint64))
	assert.Equal(t, "33.33%", human.Percentage(1, 3))
}

// TestReportsGuide runs the commands that docs/guide/reports.md shows the output of, on the
// example.
func TestReportsGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/reports.md")
	require.NoError(t, err)
	t.Chdir("../../testdata")
	blocks := regexp.MustCompile("(?ms)^```console\n\\$ afdo (.*?)\n(.*?)^```$").FindAllStringSubmatch(strings.ReplaceAll(string(guide), "\r\n", "\n"), -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		assert.Equal(t, block[2], must(t, strings.Fields(block[1])...))
	}
}
