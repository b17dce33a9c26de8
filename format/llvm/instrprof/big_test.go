package instrprof_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
)

// bigFunctions is the number of functions in the files of the benchmarks, which makes the files 48
// MB large.
const bigFunctions = 150_000

// bigName returns the name of function i in the files of the benchmarks.
func bigName(i int) string {
	return fmt.Sprintf("_ZN7library%d9component%d8function%dEPKcmi", i%61, i%1789, i)
}

// writeBig writes an indexed file of n functions with sizes and counts as in large programs: a
// third is never called, counts are spread over nine decades, and a tenth has value sites. Files
// with different seeds have the same functions.
func writeBig(w io.Writer, n int, seed uint64) error {
	shape, counts := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(seed, 2))
	p := &instrprof.Profile{Flags: instrprof.IRLevel}
	for i := range n {
		counters := make([]uint64, 1+int(23*shape.ExpFloat64()))
		if shape.IntN(3) > 0 {
			heat := math.Exp(counts.Float64() * 14)
			for k := range counters {
				counters[k] = uint64(heat * counts.ExpFloat64())
			}
		}
		var sites instrprof.ValueSites
		if shape.IntN(10) == 0 {
			for range 1 + shape.IntN(3) {
				var site []instrprof.Value
				for k := range uint64(1 + shape.IntN(3)) {
					site = append(site, instrprof.Value{Value: instrprof.NameHash(bigName(shape.IntN(n))), Count: 1000 - 100*k})
				}
				sites[instrprof.IndirectCallTarget] = append(sites[instrprof.IndirectCallTarget], site)
			}
		}
		r, err := instrprof.NewRecord(bigName(i), shape.Uint64()>>4, counters, nil, sites)
		if err != nil {
			return err
		}
		if err := p.Add(r, 1); err != nil {
			return err
		}
	}
	return p.WriteIndexed(w, instrprof.IndexedOptions{})
}

var bigDir = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.TempDir(), "afdo-instrprof-bench-1")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for seed := range uint64(2) {
		path := filepath.Join(dir, fmt.Sprintf("%d.profdata", seed))
		if _, err := os.Stat(path); err == nil {
			continue
		}
		file, err := os.CreateTemp(dir, "new")
		if err != nil {
			return "", err
		}
		if err := writeBig(file, bigFunctions, seed); err != nil {
			return "", err
		}
		if err := file.Close(); err != nil {
			return "", err
		}
		if err := os.Rename(file.Name(), path); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// big returns the paths of two files of 48 MB with the same functions.
func big(t testing.TB) [2]string {
	t.Helper()
	dir, err := bigDir()
	require.NoError(t, err)
	return [2]string{filepath.Join(dir, "0.profdata"), filepath.Join(dir, "1.profdata")}
}

// manyRaw writes one raw file for each of several runs of a program, with compressed names as
// LLVM's runtime writes them. It returns the paths.
func manyRaw(t testing.TB, runs int) []string {
	t.Helper()
	w := rawWriter{version: 10, pointer: 8, order: binary.LittleEndian, flags: 1 << 56, deflate: true}
	counts := rand.New(rand.NewPCG(3, 3))
	for i := range 5000 {
		f := rawFunc{name: bigName(i), hash: uint64(i), address: uint64(16 * (i + 1)), counters: make([]uint64, 1+i%40)}
		for k := range f.counters {
			f.counters[k] = counts.Uint64N(1 << 20)
		}
		w.funcs = append(w.funcs, f)
	}
	data := w.bytes()
	paths := make([]string, runs)
	dir := t.TempDir()
	for i := range paths {
		paths[i] = filepath.Join(dir, fmt.Sprintf("%d.profraw", i))
		require.NoError(t, os.WriteFile(paths[i], data, 0o666))
	}
	return paths
}

func BenchmarkBig(b *testing.B) {
	paths := big(b)
	b.Run("op=lookup", func(b *testing.B) {
		for b.Loop() {
			r, err := instrprof.Open(paths[0])
			require.NoError(b, err)
			records, err := r.Function(bigName(75_000))
			require.NoError(b, err)
			require.Len(b, records, 1)
			require.NoError(b, r.Close())
		}
	})
	b.Run("op=walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := instrprof.Open(paths[0])
			require.NoError(b, err)
			n := 0
			for _, err := range r.Records() {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			require.Equal(b, bigFunctions, n)
			require.NoError(b, r.Close())
		}
	})
	b.Run("op=check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := instrprof.Open(paths[0])
			require.NoError(b, err)
			for p := range r.Check() {
				b.Fatal(p.Err)
			}
			require.NoError(b, r.Close())
		}
	})
	b.Run("op=merge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := &instrprof.Profile{}
			for _, path := range paths {
				require.NoError(b, p.AddFile(path, 1, nil))
			}
			require.NoError(b, p.WriteIndexed(io.Discard, instrprof.IndexedOptions{}))
		}
	})
}
