package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
)

// benchProfile returns a profile of about 300,000 records. Its bodies have up to some dozens of
// records at one level and up to 8 levels.
func benchProfile(b *testing.B) *Profile {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	s := shape{lines: 200, discriminators: 4, callees: 1000, siblings: 16, depth: 7}
	p := New()
	for i := range 1000 {
		p.AddSymbol(UnknownUnit, gen.BigName(0, i))
	}
	var body Body
	for i := 0; records(p) < 300_000; i++ {
		body.Reset()
		s.fill(rng, &body, newNaiveBody(), 0)
		p.AddFunction(SymbolRef(i%1000), Function{HeadCount: 1, Records: body.Records()})
	}
	return p
}

func records(p *Profile) int {
	n := 0
	for _, f := range p.Functions() {
		n += len(f.Records)
	}
	return n
}

// perRecord reports the time for one record.
func perRecord(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
}

func BenchmarkWalk(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range p.Functions() {
			w := Walk(f.Records)
			for _, _, ok := w.Next(); ok; _, _, ok = w.Next() {
			}
		}
	}
	perRecord(b, records(p))
}

// BenchmarkBody assembles bodies whose records come in canonical order, and in
// that of a version 3 file, which has inlined bodies after everything else.
func BenchmarkBody(b *testing.B) {
	p := benchProfile(b)
	n := records(p)
	b.Run("canonical", func(b *testing.B) {
		b.ReportAllocs()
		symbols := make([]SymbolRef, p.NumSymbols())
		for s := range symbols {
			symbols[s] = SymbolRef(s)
		}
		var body Body
		for b.Loop() {
			for _, f := range p.Functions() {
				body.Renumber(f.Records, symbols)
			}
		}
		perRecord(b, n)
	})
	b.Run("version 3", func(b *testing.B) {
		b.ReportAllocs()
		var body Body
		for b.Loop() {
			for _, f := range p.Functions() {
				body.Reset()
				addInlinedLast(&body, f.Records)
				body.Records()
			}
		}
		perRecord(b, n)
	})
}

func addInlinedLast(b *Body, records []Record) {
	for _, inlined := range []bool{false, true} {
		for i := 0; i < len(records); i++ {
			switch r := records[i]; {
			case r.Kind == KindInlined:
				nested := records[i+1 : i+1+int(r.Count)]
				if inlined {
					b.Enter(r.Line, r.Discriminator, r.Callee)
					addInlinedLast(b, nested)
					b.Leave()
				}
				i += len(nested)
			case inlined:
			case r.Kind == KindCount:
				b.Count(r.Line, r.Discriminator, r.Count)
			default:
				b.Call(r.Line, r.Discriminator, r.Callee, r.Count)
			}
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		sum := merged(p)
		sum.Merge(p)
	}
	perRecord(b, 2*records(p))
}

func BenchmarkCompare(b *testing.B) {
	p := benchProfile(b)
	q := shuffled(rand.New(rand.NewPCG(1, 1)), p)
	b.ReportAllocs()
	for b.Loop() {
		if err := Compare(p, q); err != nil {
			b.Fatal(err)
		}
	}
	perRecord(b, records(p))
}

func BenchmarkSummarize(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Summarize()
	}
	perRecord(b, records(p))
}

func BenchmarkAddSymbol(b *testing.B) {
	names := make([]string, 200_000)
	for i := range names {
		names[i] = gen.BigName(i/1000, i%1000)
	}
	b.ReportAllocs()
	for b.Loop() {
		p := New()
		for _, name := range names {
			p.AddSymbol(UnknownUnit, name)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(names)), "ns/symbol")
}

func BenchmarkRead(b *testing.B) {
	data := gen.Big(500, true)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r, err := afdo.OpenBytes(data)
		if err != nil {
			b.Fatal(err)
		}
		p, err := Read(r)
		if err != nil {
			b.Fatal(err)
		}
		n = records(p)
	}
	perRecord(b, n)
}
