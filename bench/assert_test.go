package bench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// What of the measurements does not depend on the time is checked here, on a small profile.

// eachSubject runs a test on a normal and on a compact version 4 file.
func eachSubject(t *testing.T, test func(t *testing.T, s *subject)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) { test(t, newSubject(t, small, m.format)) })
	}
}

// A Reader may read at most 1/headShare of a file at its beginning, for the section table, and
// 1/tailShare at its end, for the file names, before it knows where anything is.
const (
	headShare = 16
	tailShare = 64
)

// TestLookupReadsItsUnitAlone checks how many bytes are read to look up one unit: only those of the
// header, the section table, the file names, and the sections of the unit.
func TestLookupReadsItsUnitAlone(t *testing.T) {
	eachSubject(t, func(t *testing.T, s *subject) {
		reads, read := touched(t, bytes.NewReader(s.data), len(s.data), func(r *afdo.Reader) {
			u, err := r.Unit(s.unit)
			require.NoError(t, err)
			s.walkUnit(u)
		})
		assert.LessOrEqual(t, reads, 3)

		r, err := afdo.OpenBytes(s.data)
		require.NoError(t, err)
		first, err := r.Section(0)
		require.NoError(t, err)
		needed := max(int(first.Offset), len(s.data)/headShare)
		for section, err := range r.Sections() {
			require.NoError(t, err)
			if section.Type == afdo.SectionFileNames {
				needed += max(int(section.Size), len(s.data)/tailShare)
			}
		}
		u, err := r.Unit(s.unit)
		require.NoError(t, err)
		lowest := r.NumSections()
		for symbol, err := range u.Symbols() {
			require.NoError(t, err)
			if !symbol.HasInfo() {
				continue
			}
			info, err := symbol.Info()
			require.NoError(t, err)
			needed += int(info.Section().Size)
			lowest = min(lowest, info.Section().Index)
		}
		for i, kind := range []afdo.SectionType{afdo.SectionStringTable, afdo.SectionSymbolNames} {
			section, err := r.Section(lowest - 2 + i) // where the builder puts them
			require.NoError(t, err)
			require.Equal(t, kind, section.Type)
			needed += int(section.Size)
		}
		assert.LessOrEqual(t, read, needed)
		assert.Less(t, read, len(s.data)/5)
	})
}

func TestLookupAllocations(t *testing.T) {
	eachSubject(t, func(t *testing.T, s *subject) {
		for _, from := range sources {
			allocations := testing.AllocsPerRun(10, func() {
				r, opened := from.open(s)
				defer opened.Close()
				u, err := r.Unit(s.unit)
				require.NoError(t, err)
				s.walkUnit(u)
			})
			assert.Less(t, allocations, 100.0, from.name)
		}
	})
}

func TestWalkAllocatesNothing(t *testing.T) {
	eachSubject(t, func(t *testing.T, s *subject) {
		infos, _ := s.infos()
		var c afdo.Cursor
		walk := func() {
			for i := range infos {
				sink += s.walk(&c, &infos[i])
			}
		}
		walk() // grows the cursor to the deepest function
		assert.Zero(t, testing.AllocsPerRun(5, walk))
	})
}

// TestWalkSeesAllSamples checks that the benchmark of a walk visits all samples of the file.
func TestWalkSeesAllSamples(t *testing.T) {
	p := small.profile(t)
	want := p.Summarize().TotalCount
	eachSubject(t, func(t *testing.T, s *subject) {
		infos, size := s.infos()
		assert.Len(t, infos, p.NumFunctions())
		assert.Less(t, size, len(s.data))
		var got uint64
		var c afdo.Cursor
		for i := range infos {
			got += s.walk(&c, &infos[i])
		}
		assert.Equal(t, want, got)
	})
}

// TestOperationsRun runs each benchmarked operation once.
func TestOperationsRun(t *testing.T) {
	eachSubject(t, func(t *testing.T, s *subject) {
		for _, from := range sources {
			for _, op := range readOps {
				r, opened := from.open(s)
				op.do(s, r)
				_ = opened.Close()
			}
		}
	})
	for _, op := range wholeOps {
		op.do(t, small)
		assert.NotEmpty(t, small.data(t, op.format))
	}
}

func TestAverageUnitIsAverage(t *testing.T) {
	p := small.profile(t)
	path, name := small.averageUnit(t)
	symbols, functions := 0, 0
	for s := range p.NumSymbols() {
		if p.UnitPath(p.SymbolUnit(profile.SymbolRef(s))) != path {
			continue
		}
		symbols++
		if p.SymbolName(profile.SymbolRef(s)) == name {
			assert.NotNil(t, p.Function(profile.SymbolRef(s)))
			functions++
		}
	}
	assert.Equal(t, 1, functions)
	assert.InEpsilon(t, p.NumSymbols()/p.NumUnits(), symbols, 0.2)
}

func TestCFunction(t *testing.T) {
	p := small.profile(t)
	s := cFunction(t, p)
	assert.Regexp(t, `^[a-z_]+[0-9]*$`, p.SymbolName(s))
	assert.NotNil(t, p.Function(s))
}

func TestWriteLLVM(t *testing.T) {
	p := profile.New()
	f, g := p.AddSymbol(profile.UnknownUnit, "f"), p.AddSymbol(profile.UnknownUnit, "g")
	var body profile.Body
	body.Count(1, 0, 10)
	body.Count(1, 2, 20)
	body.Call(1, 2, g, 5)
	body.Call(1, 2, f, 6)
	body.Call(3, 0, g, 7)
	body.Enter(4, 0, g)
	body.Count(0, 0, 30)
	body.Enter(1, 0, f)
	body.Count(0, 0, 40)
	body.Leave()
	body.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 9, Records: body.Records()})
	var text bytes.Buffer
	writeLLVM(&text, p)
	assert.Equal(t, `f:100:9
 1: 10
 1.2: 20 f:6 g:5
 3: 0 g:7
 4: g:70
  0: 30
  1: f:40
   0: 40
`, text.String())
}
