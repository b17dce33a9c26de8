package encode

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile"
)

// The benchmarks of this file measure what docs/measured/size.md tells. BenchmarkSize and those
// that begin like it report bytes, not time, and do so after one iteration.

// profiles runs a benchmark for each profile of the corpus. v3 is the size of the profile in
// version 3, in bytes.
func profiles(b *testing.B, run func(b *testing.B, p *profile.Profile, v3 int)) {
	for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
		b.Run(name, func(b *testing.B) {
			data := corpus(b, name+".v3")
			p, err := gcov.ParseBytes(data)
			require.NoError(b, err)
			run(b, p, len(data))
		})
	}
}

func modes(b *testing.B, run func(b *testing.B, o Options)) {
	b.Run("normal", func(b *testing.B) { run(b, Options{}) })
	b.Run("compact", func(b *testing.B) { run(b, Options{Compact: true}) })
}

// report reports sizes in bytes as metrics of a benchmark, and no time.
func report(b *testing.B, bytes map[string]int) {
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	for what, n := range bytes {
		b.ReportMetric(float64(n), what)
	}
}

// BenchmarkSize reports how many bytes each type of section takes.
func BenchmarkSize(b *testing.B) {
	kinds := map[uint8]string{
		naive.StringTable: "string-tables", naive.SummaryInfo: "summary", naive.FileNames: "file-names",
		naive.SymbolNames: "symbol-names", naive.SymbolInfo: "symbol-infos",
	}
	profiles(b, func(b *testing.B, p *profile.Profile, v3 int) {
		modes(b, func(b *testing.B, o Options) {
			data := write(b, p, o)
			f, err := naive.Decode(data)
			require.NoError(b, err)
			sizes := map[string]int{"total": len(data), "header": int(f.Sections[0].Offset), "v3": v3}
			for _, s := range f.Sections {
				sizes[kinds[s.Type]] += int(s.Size)
			}
			report(b, sizes)
			b.ReportMetric(100*float64(len(data)-v3)/float64(v3), "%v3")
		})
	})
}

// BenchmarkSizeFields reports how many bytes each field of string tables, symbol names and symbol
// infos takes in a compact file.
func BenchmarkSizeFields(b *testing.B) {
	profiles(b, func(b *testing.B, p *profile.Profile, _ int) {
		f, err := naive.Decode(write(b, p, Options{Compact: true}))
		require.NoError(b, err)
		fields := fieldSizes{}
		for _, u := range f.Units {
			fields.trie(u)
			for _, s := range u.Symbols {
				fields.row(s)
				if s.HasInfo {
					fields.add("head-counts", s.Head)
					fields.add("timestamps", s.Timestamp)
					fields.body(s.Locations)
				}
			}
		}
		report(b, fields)
	})
}

type fieldSizes map[string]int

func (f fieldSizes) add(what string, v uint64) { f[what] += varintLen(v) }

func (f fieldSizes) trie(u naive.Unit) {
	t := trie{names: slices.Sorted(slices.Values(u.Strings))}
	t.build()
	f["trie-nodes"] += len(t.nodes)
	for _, n := range t.nodes[:len(t.nodes)-1] {
		f.add("trie-lengths", uint64(n.to-n.from))
		f["trie-labels"] += n.to - n.from
	}
	for i := range u.Strings {
		f.add("trie-indices", uint64(i))
	}
}

func (f fieldSizes) row(s naive.Symbol) {
	f.add("row-strings", uint64(s.StringIndex))
	f.add("row-ids", uint64(s.ID))
	if s.HasInfo {
		f.add("row-infos", uint64(s.InfoSection))
	} else {
		f.add("row-no-infos", uint64(s.InfoSection))
	}
}

func (f fieldSizes) body(ls []naive.Location) {
	f.add("locations", uint64(len(ls)))
	for _, l := range ls {
		f["types"]++
		f.add("lines", uint64(l.Line))
		if l.Disc != 0 {
			f.add("discriminators", uint64(l.Disc))
		}
		if l.Type == naive.CalledFns {
			f.add("targets", uint64(len(l.Targets)))
		}
		if l.Type == naive.Normal || l.Type == naive.Wide {
			f.add("counts", l.Count)
		}
		for _, t := range l.Targets {
			f.add("callees", uint64(t.Callee))
			f.add("calls", t.Count)
		}
		if l.Type == naive.InlinedFn {
			f.add("callees", uint64(l.Callee))
			f.body(l.Locations)
		}
	}
}

// BenchmarkSizeOrder reports the size of a compact file with and without each rule for the order of
// units and symbols.
func BenchmarkSizeOrder(b *testing.B) {
	byRank := func(f *fileLayout) {
		r := f.plan.rank()
		f.plan.number(r.units, 0)
		f.number()
	}
	byUse := func(f *fileLayout) {
		f.plan.orderSymbols()
		f.number()
	}
	orders := []struct {
		name    string
		symbols func(f *fileLayout)
		units   func(f *fileLayout)
	}{
		{"by-name", numberByName, unitsByPath},
		{"symbols-by-rank", byRank, unitsByPath},
		{"symbols-by-use", byUse, unitsByPath},
		{"symbols-by-use-and-small-sections-first", byUse, func(f *fileLayout) { f.plan.orderUnits() }},
	}
	profiles(b, func(b *testing.B, p *profile.Profile, _ int) {
		for _, order := range orders {
			b.Run(order.name, func(b *testing.B) {
				f, err := newFile(p)
				require.NoError(b, err)
				order.symbols(f)
				order.units(f)
				var data bytes.Buffer
				require.NoError(b, f.write(&data, Options{Compact: true}))
				report(b, map[string]int{"total": data.Len(), "callees": idBytes(f), "callees-at-best": leastIDBytes(f)})
			})
		}
	})
}

func unitsByPath(f *fileLayout) { f.plan.place(f.plan.byPath) }

// BenchmarkWrite measures the time of Write, per byte of the same profile in version 3.
func BenchmarkWrite(b *testing.B) {
	profiles(b, func(b *testing.B, p *profile.Profile, v3 int) {
		modes(b, func(b *testing.B, o Options) {
			b.SetBytes(int64(v3))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, Write(io.Discard, p, o))
			}
		})
	})
}

// BenchmarkConvert measures the time of reading a version 3 file and writing it as a compact file.
func BenchmarkConvert(b *testing.B) {
	for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
		b.Run(name, func(b *testing.B) {
			data := corpus(b, name+".v3")
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				p, err := gcov.ParseBytes(data)
				require.NoError(b, err)
				require.NoError(b, Write(io.Discard, p, Options{Compact: true}))
			}
		})
	}
}
