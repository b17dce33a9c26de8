package doccheck

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
)

// The figures of rationale.md on copying out of the map:
//
//	go test ./internal/doccheck -run '^$' -bench . -benchtime 100ms -count 10

const (
	benchUnits     = 50
	benchFunctions = 20
	benchLines     = 20 // of a function, 4 records each and one inlined
)

// benchFile returns a file of many units with the same contents.
func benchFile(b *testing.B, compact bool) []byte {
	b.Helper()
	out := builder.NewBuilder()
	for u := range benchUnits {
		path := fmt.Sprintf("src/unit%02d.cc", u)
		for f := range benchFunctions {
			out.Function(path, fmt.Sprintf("_ZN5bench4unit8function%02dEv", f), uint64(f), 0)
			for line := range uint32(benchLines) {
				out.Count(line, 0, 37*uint64(line))
				out.Count(line, 1, uint64(line))
				out.Call(line, 2, path, "_ZN5bench6calleeEv", uint64(line))
				out.Enter(line, 3, path, "_ZN5bench7inlinedEv")
				out.Count(1, 0, uint64(line)+200)
				out.Leave()
			}
		}
	}
	var file bytes.Buffer
	require.NoError(b, out.Write(&file, builder.Options{Compact: compact}))
	return file.Bytes()
}

var encodings = []struct {
	name    string
	compact bool
}{{"normal", false}, {"compact", true}}

// guarded calls f and recovers from a fault, such as a read from a mapped file that was truncated.
// It returns the fault, or nil. This is how every read from a mapping would have to be guarded.
func guarded(f func()) (fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() }()
	f()
	return nil
}

// benchRecords walks the functions of a unit.
func benchRecords(b *testing.B, next func(*afdo.Cursor) bool) {
	for _, e := range encodings {
		b.Run(e.name, func(b *testing.B) {
			r, err := afdo.OpenBytes(benchFile(b, e.compact))
			require.NoError(b, err)
			unit, err := r.Unit("src/unit07.cc")
			require.NoError(b, err)
			var infos []afdo.Info
			for s, err := range unit.Symbols() {
				require.NoError(b, err)
				if s.HasInfo() {
					info, err := s.Info()
					require.NoError(b, err)
					infos = append(infos, info)
				}
			}
			var cursor afdo.Cursor
			records := 0
			for b.Loop() {
				for _, info := range infos {
					for cursor.Reset(info); next(&cursor); {
						records++
					}
				}
			}
			require.NoError(b, cursor.Err())
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
		})
	}
}

// BenchmarkRecord decodes records that were copied from the map into memory.
func BenchmarkRecord(b *testing.B) {
	benchRecords(b, (*afdo.Cursor).Next)
}

// BenchmarkGuardedRecord decodes records with a guard around each, as decoding in the map would
// need.
func BenchmarkGuardedRecord(b *testing.B) {
	benchRecords(b, func(c *afdo.Cursor) (more bool) {
		guarded(func() { more = c.Next() })
		return more
	})
}

// BenchmarkUnit finds a unit, loads it and visits all of its records, as a compiler does.
func BenchmarkUnit(b *testing.B) {
	for _, e := range encodings {
		file := benchFile(b, e.compact)
		b.Run("copied/"+e.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "bench.afdo")
			require.NoError(b, os.WriteFile(path, file, 0o600))
			r, err := afdo.Open(path)
			require.NoError(b, err)
			defer r.Close()
			benchUnit(b, r)
		})
		b.Run("in place/"+e.name, func(b *testing.B) {
			r, err := afdo.OpenBytes(file)
			require.NoError(b, err)
			benchUnit(b, r)
		})
	}
}

func benchUnit(b *testing.B, r *afdo.Reader) {
	records := 0
	var cursor afdo.Cursor
	for b.Loop() {
		unit, err := r.Unit("src/unit07.cc")
		require.NoError(b, err)
		require.NoError(b, unit.Load())
		for s := range unit.Symbols() {
			if !s.HasInfo() {
				continue
			}
			info, err := s.Info()
			require.NoError(b, err)
			for cursor.Reset(info); cursor.Next(); {
				records++
			}
		}
	}
	require.NoError(b, cursor.Err())
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}
