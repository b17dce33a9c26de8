package slice

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// BenchmarkRemoteLayout computes what slices of a file of a server would take if the index listed
// the symbols of each unit's slice, for docs/measured/performance.md. It reports, in percent of
// the file or of the units:
//
//   - mentions: the size of a table of the names to which each unit's samples refer,
//   - ids: the size of a table of the symbol IDs of each unit's slice, without those of all slices,
//   - names: the size of that table with the names,
//   - p90: what 9 units of 10 fetch at most, if 9 requests fetch all sections that a slice needs,
//   - tenth: how many units fetch at most a tenth of the file,
//   - least and least-tenth: the same as p90 and tenth for the contents of the slices alone.
func BenchmarkRemoteLayout(b *testing.B) {
	profiles := map[string]func() *profile.Profile{
		"android":   func() *profile.Profile { return synth.Profile(synth.Android) },
		"bootstrap": func() *profile.Profile { return synth.Profile(synth.Bootstrap) },
	}
	for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
		profiles[name] = func() *profile.Profile {
			p, err := gcov.ParseBytes(testenv.CorpusData(b, name+".v3"))
			require.NoError(b, err)
			return p
		}
	}
	for _, name := range []string{"libgui", "libart_arm", "keystore2", "android", "bootstrap"} {
		b.Run("profile="+name, func(b *testing.B) {
			m := newRemoteLayout(b, profiles[name]())
			for _, compiler := range []string{"gcc12", "gcc16"} {
				b.Run("for="+compiler, func(b *testing.B) {
					for b.Loop() {
						m.measure(b, map[string]Target{"gcc12": Version2, "gcc16": Version3}[compiler])
					}
					b.ReportMetric(0, "ns/op")
				})
			}
		})
	}
}

// layoutUnits is the number of units of a profile that are measured.
const layoutUnits = 60

// A remoteLayout is a file with an index, with the positions of its sections.
type remoteLayout struct {
	reader *afdo.Reader
	size   float64
	units  []*afdo.Unit
	names  []fileRange                 // string table and symbol names, by unit
	infos  map[program.ID]fileRange    // samples
	refs   map[int]map[program.ID]bool // symbols to which samples of a unit refer
}

type fileRange struct{ from, to int64 }

func newRemoteLayout(b *testing.B, p *profile.Profile) *remoteLayout {
	var file bytes.Buffer
	require.NoError(b, builder.Write(&file, p, builder.Options{Compact: true, Index: &index.Options{Unqualified: Names}}))
	r, err := afdo.OpenBytes(file.Bytes(), afdo.TrustIndex())
	require.NoError(b, err)
	m := &remoteLayout{reader: r, size: float64(file.Len()), infos: make(map[program.ID]fileRange), refs: make(map[int]map[program.ID]bool)}
	section := func(i int) fileRange {
		s, err := r.Section(i)
		require.NoError(b, err)
		return fileRange{s.Offset, s.Offset + s.Size}
	}
	for u, err := range r.Units() {
		require.NoError(b, err)
		strings, symbols := u.SectionIndexes()
		m.units = append(m.units, u)
		m.names = append(m.names, fileRange{section(strings).from, section(symbols).to})
		refs := make(map[program.ID]bool)
		m.refs[u.Index()] = refs
		for s, err := range u.Symbols() {
			require.NoError(b, err)
			if !s.HasInfo() {
				continue
			}
			info, err := s.Info()
			require.NoError(b, err)
			m.infos[program.ID(s.ID())] = section(info.Section().Index)
			c := info.Cursor()
			for c.Next() {
				if l := c.Location(); l.Type == afdo.LocationInlinedFn {
					refs[program.ID(l.Callee)] = true
				}
				for t := range c.Targets() {
					refs[program.ID(t.Callee)] = true
				}
			}
			require.NoError(b, c.Err())
		}
	}
	return m
}

// selected returns the slice of some units.
func (m *remoteLayout) selected(b *testing.B, target Target, units ...string) *selection {
	p, err := FromReader(m.reader)
	require.NoError(b, err)
	s, err := p.selectSymbols(Request{Units: units, Target: target}, true)
	require.NoError(b, err)
	return s
}

func (m *remoteLayout) measure(b *testing.B, target Target) {
	always := make(map[program.ID]bool) // in every slice
	for _, sym := range m.selected(b, target).symbols {
		always[sym.ID] = true
	}
	var fetched, least []float64
	var ids, names, mentions int
	step := max(len(m.units)/layoutUnits, 1)
	for i := 0; i < len(m.units); i += step {
		s := m.selected(b, target, m.units[i].Path())
		var others, whole []program.Symbol
		var sections, samples []fileRange
		for _, sym := range s.symbols {
			whole = append(whole, sym)
			if sym.Unit != i && !always[sym.ID] {
				others = append(others, sym)
			}
			sections = append(sections, m.names[sym.Unit])
			if _, ok := s.samples[sym.ID]; ok {
				samples = append(samples, m.infos[sym.ID])
			}
		}
		ids += idBytes(others)
		names += nameBytes(others)
		var mentioned []program.Symbol
		for id := range m.refs[i] {
			sym, err := s.Store.Symbol(id)
			require.NoError(b, err)
			if sym.Unit != i {
				mentioned = append(mentioned, sym)
			}
		}
		mentions += nameBytes(mentioned)
		fetched = append(fetched, 100*float64(inRequests(append(sections, samples...), 9))/m.size)
		least = append(least, 100*float64(inRequests(samples, len(samples))+int64(nameBytes(whole)))/m.size)
	}
	n := float64(len(fetched))
	all := 100 * float64(len(m.units)) / n / m.size
	b.ReportMetric(all*float64(mentions), "mentions-%")
	b.ReportMetric(all*float64(ids), "ids-%")
	b.ReportMetric(all*float64(ids+names), "names-%")
	for name, percents := range map[string][]float64{"p90-%": fetched, "least-%": least} {
		slices.Sort(percents)
		b.ReportMetric(percents[len(percents)*9/10], name)
	}
	tenth := func(percents []float64) float64 {
		i, _ := slices.BinarySearch(percents, 10)
		return 100 * float64(i) / n
	}
	b.ReportMetric(tenth(fetched), "tenth-%")
	b.ReportMetric(tenth(least), "least-tenth-%")
}

// idBytes returns the size of a list of symbol IDs.
func idBytes(symbols []program.Symbol) (n int) {
	slices.SortFunc(symbols, func(a, b program.Symbol) int { return cmp.Compare(a.ID, b.ID) })
	next := program.ID(0)
	for _, sym := range symbols {
		n += len(binary.AppendUvarint(nil, uint64(sym.ID-next)))
		next = sym.ID + 1
	}
	return n
}

// nameBytes returns the size of a list of names in which each name omits the beginning that it
// shares with the name before it.
func nameBytes(symbols []program.Symbol) (n int) {
	slices.SortFunc(symbols, func(a, b program.Symbol) int { return cmp.Compare(a.Name, b.Name) })
	last := ""
	for _, sym := range symbols {
		shared := 0
		for shared < min(len(last), len(sym.Name)) && last[shared] == sym.Name[shared] {
			shared++
		}
		n, last = n+2+len(sym.Name)-shared, sym.Name
	}
	return n
}

// inRequests returns how many bytes a given number of requests fetch to cover all ranges.
func inRequests(ranges []fileRange, requests int) (bytes int64) {
	if len(ranges) == 0 {
		return 0
	}
	slices.SortFunc(ranges, func(a, b fileRange) int { return cmp.Compare(a.from, b.from) })
	var gaps []int64
	end := ranges[0].to
	for _, r := range ranges {
		if r.from > end {
			gaps = append(gaps, r.from-end)
		}
		end = max(end, r.to)
	}
	bytes = end - ranges[0].from
	slices.Sort(gaps)
	for _, gap := range gaps[max(len(gaps)-requests+1, 0):] {
		bytes -= gap
	}
	return bytes
}
