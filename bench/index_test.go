package bench

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// indexed returns the compact file of a corpus with an index, and its path.
func (c *corpus) indexed(tb testing.TB) (data []byte, path string) {
	plain := c.data(tb, "v4c")
	path = filepath.Join(scratch, c.name+".v4x")
	if data, err := os.ReadFile(path); err == nil {
		return data, path
	}
	r, err := afdo.OpenBytes(plain)
	require.NoError(tb, err)
	var file bytes.Buffer
	require.NoError(tb, index.Write(&file, r, &index.Options{}))
	require.NoError(tb, os.WriteFile(path, file.Bytes(), 0o600))
	return file.Bytes(), path
}

// indexOps are questions about the whole program that an index answers.
var indexOps = []struct {
	name string
	do   func(b *testing.B, r *afdo.Reader, p *index.Program, path, symbol string)
}{
	{"unit", func(b *testing.B, r *afdo.Reader, p *index.Program, path, _ string) {
		_, err := r.Unit(path)
		require.NoError(b, err)
	}},
	{"symbol", func(b *testing.B, _ *afdo.Reader, p *index.Program, _, symbol string) { count(b, p.Named(symbol)) }},
	{"symbol+clones", func(b *testing.B, _ *afdo.Reader, p *index.Program, _, symbol string) { count(b, p.Clones(symbol)) }},
	{"no-symbol", func(b *testing.B, _ *afdo.Reader, p *index.Program, _, symbol string) {
		count(b, p.Named("no "+symbol))
	}},
	{"inlined-into", func(b *testing.B, r *afdo.Reader, p *index.Program, path, _ string) {
		u, err := r.Unit(path)
		require.NoError(b, err)
		count(b, p.InlinedInto(symbolIDs(b, u)))
	}},
}

// symbolIDs returns the IDs of a unit's symbols.
func symbolIDs(b *testing.B, u *afdo.Unit) (ids []afdo.SymbolID) {
	for s, err := range u.Symbols() {
		require.NoError(b, err)
		ids = append(ids, s.ID())
	}
	return ids
}

func count(b *testing.B, symbols func(func(afdo.Symbol, error) bool)) {
	for s, err := range symbols {
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(s.ID())
	}
}

// BenchmarkIndex measures questions about the whole program with and without an index.
func BenchmarkIndex(b *testing.B) {
	for _, c := range []*corpus{bootstrap, measured("libart_arm")} {
		b.Run("corpus="+c.name, func(b *testing.B) {
			plain, path := c.data(b, "v4c"), c.path(b, "v4c")
			data, indexedPath := c.indexed(b)
			units, symbols := c.sample(b, 1000)
			for _, x := range []struct {
				name, path string
				data       []byte
			}{{"no", path, plain}, {"yes", indexedPath, data}} {
				s := &subject{tb: b, data: x.data, path: x.path}
				for _, op := range indexOps {
					name := "/op=" + op.name + "/index=" + x.name
					do := func(i int, r *afdo.Reader, p *index.Program) {
						op.do(b, r, p, units[i%len(units)], symbols[i%len(symbols)])
					}
					b.Run("call=first"+name, func(b *testing.B) { s.first(b, do) })
					b.Run("call=later"+name, func(b *testing.B) { s.later(b, do) })
				}
			}
		})
	}
}

// first measures a call on a new Reader, as every process has to make it.
func (s *subject) first(b *testing.B, do func(i int, r *afdo.Reader, p *index.Program)) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		r, err := afdo.Open(s.path, afdo.TrustIndex())
		require.NoError(b, err)
		p := index.NewProgram(r)
		b.StartTimer()
		do(i, r, p)
		b.StopTimer()
		_ = r.Close()
		b.StartTimer()
	}
}

// later measures do on a Reader that earlier calls have used.
func (s *subject) later(b *testing.B, do func(i int, r *afdo.Reader, p *index.Program)) {
	r, err := afdo.Open(s.path, afdo.TrustIndex())
	require.NoError(b, err)
	defer r.Close()
	p := index.NewProgram(r)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		do(i, r, p)
	}
}

// sample returns the paths of some units that have functions, and the names of some symbols.
func (c *corpus) sample(tb testing.TB, n int) (units, symbols []string) {
	p := c.profile(tb)
	seen := map[string]bool{}
	var paths, names []string
	for s := range p.Functions() {
		if path := p.UnitPath(p.SymbolUnit(s)); !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	for s := range p.NumSymbols() {
		names = append(names, p.SymbolName(profile.SymbolRef(s)))
	}
	return shuffled(paths, n), shuffled(names, n)
}

// shuffled returns copies of up to n of the strings, in random order.
func shuffled(from []string, n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	some := make([]string, min(len(from), n))
	for i, j := range rng.Perm(len(from))[:len(some)] {
		some[i] = string([]byte(from[j]))
	}
	return some
}
