package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/textfmt"
)

// A subject is a version 4 file to read, with an average and a large unit of it.
type subject struct {
	tb   testing.TB
	data []byte
	path string // of the file

	unit   string // path of an average unit
	large  string // path of the unit with the most symbols
	symbol string // name of a function of the average unit
}

func newSubject(tb testing.TB, c *corpus, format string) *subject {
	s := &subject{tb: tb, data: c.data(tb, format), path: c.path(tb, format)}
	s.unit, s.symbol = c.averageUnit(tb)
	s.large = c.largestUnit(tb)
	return s
}

// sources lists the ways to open a file, with the index trusted if there is one. open also returns
// what has to be closed.
var sources = []struct {
	name string
	open func(*subject) (r *afdo.Reader, opened io.Closer) // a closure here would count as an allocation of the Reader
}{
	{"mmap", func(s *subject) (*afdo.Reader, io.Closer) {
		r, err := afdo.Open(s.path, afdo.TrustIndex())
		require.NoError(s.tb, err)
		return r, r
	}},
	{"bytes", func(s *subject) (*afdo.Reader, io.Closer) {
		r, err := afdo.OpenBytes(s.data, afdo.TrustIndex())
		require.NoError(s.tb, err)
		return r, r
	}},
	{"readerat", func(s *subject) (*afdo.Reader, io.Closer) {
		f, err := os.Open(s.path)
		require.NoError(s.tb, err)
		info, err := f.Stat()
		require.NoError(s.tb, err)
		r, err := afdo.NewReader(f, info.Size(), afdo.TrustIndex())
		require.NoError(s.tb, err)
		return r, readerAndFile{r, f}
	}},
}

type readerAndFile struct {
	*afdo.Reader
	file *os.File
}

func (r readerAndFile) Close() error { return errors.Join(r.Reader.Close(), r.file.Close()) }

// readOps lists the operations on a file that are measured. The time includes opening the file,
// unless warm is set: then the Reader has looked up a unit before.
var readOps = []struct {
	name string
	warm bool
	do   func(*subject, *afdo.Reader)
}{
	{"open", false, func(*subject, *afdo.Reader) {}},
	{"open+unit", false, func(s *subject, r *afdo.Reader) {
		u, err := r.Unit(s.unit)
		require.NoError(s.tb, err)
		s.walkUnit(u)
	}},
	{"open+symbol", false, (*subject).readSymbol},
	{"open+print", false, func(s *subject, r *afdo.Reader) { s.print(r, s.unit) }}, // with the names of callees in other units
	{"open+print-largest", false, func(s *subject, r *afdo.Reader) { s.print(r, s.large) }},
	{"unit", true, func(s *subject, r *afdo.Reader) {
		u, err := r.Unit(s.unit)
		require.NoError(s.tb, err)
		s.walkUnit(u)
	}},
	{"symbol", true, (*subject).readSymbol},
	{"search-miss", true, func(s *subject, r *afdo.Reader) { // a name that no unit has
		for u, err := range r.Units() {
			require.NoError(s.tb, err)
			_, err := u.Symbol("_ZN3ana13place_operandE")
			require.ErrorIs(s.tb, err, afdo.ErrNotFound)
		}
	}},
	{"names", false, func(s *subject, r *afdo.Reader) {
		for u, err := range r.Units() {
			require.NoError(s.tb, err)
			n, err := u.NumSymbols()
			require.NoError(s.tb, err)
			sink += uint64(n)
		}
	}},
	{"walk", false, func(s *subject, r *afdo.Reader) {
		for u, err := range r.Units() {
			require.NoError(s.tb, err)
			s.walkUnit(u)
		}
	}},
	{"check", false, func(s *subject, _ *afdo.Reader) {
		for p := range check.V4(s.data, check.Options{}) {
			require.True(s.tb, p.Remark, p)
		}
	}},
}

func (s *subject) readSymbol(r *afdo.Reader) {
	u, err := r.Unit(s.unit)
	require.NoError(s.tb, err)
	symbol, err := u.Symbol(s.symbol)
	require.NoError(s.tb, err)
	info, err := symbol.Info()
	require.NoError(s.tb, err)
	var c afdo.Cursor
	sink += s.walk(&c, &info)
}

// print prints a unit in the text form.
func (s *subject) print(r *afdo.Reader, path string) {
	u, err := r.Unit(path)
	require.NoError(s.tb, err)
	require.NoError(s.tb, textfmt.PrintUnit(io.Discard, r, u))
}

// walkUnit reads the symbols and all samples of a unit.
func (s *subject) walkUnit(u *afdo.Unit) {
	if err := u.Load(); err != nil {
		s.tb.Fatal(err)
	}
	var c afdo.Cursor
	for symbol, err := range u.Symbols() {
		if err != nil {
			s.tb.Fatal(err)
		}
		if !symbol.HasInfo() {
			continue
		}
		info, err := symbol.Info()
		if err != nil {
			s.tb.Fatal(err)
		}
		sink += s.walk(&c, &info)
	}
}

// walk visits the records of a function and returns the sum of their counts.
func (s *subject) walk(c *afdo.Cursor, info *afdo.Info) (samples uint64) {
	for c.Reset(*info); c.Next(); {
		samples += c.Location().Count
	}
	if err := c.Err(); err != nil {
		s.tb.Fatal(err)
	}
	return samples
}

// infos returns the samples of all functions, and their total size in bytes.
func (s *subject) infos() (infos []afdo.Info, size int) {
	r, err := afdo.OpenBytes(s.data, afdo.TrustIndex())
	require.NoError(s.tb, err)
	for u, err := range r.Units() {
		require.NoError(s.tb, err)
		for symbol, err := range u.Symbols() {
			require.NoError(s.tb, err)
			if !symbol.HasInfo() {
				continue
			}
			info, err := symbol.Info()
			require.NoError(s.tb, err)
			infos = append(infos, info)
			size += int(info.Section().Size)
		}
	}
	return infos, size
}

func BenchmarkRead(b *testing.B) {
	for _, c := range corpora {
		b.Run("corpus="+c.name, func(b *testing.B) {
			c.profile(b)
			for _, m := range append(slices.Clone(modes), indexed) {
				s := newSubject(b, c, m.format)
				for _, from := range sources {
					for _, op := range readOps {
						b.Run("mode="+m.name+"/source="+from.name+"/op="+op.name, func(b *testing.B) {
							s.tb = b
							reads, n := touched(b, bytes.NewReader(s.data), len(s.data), func(r *afdo.Reader) { op.do(s, r) })
							if op.warm {
								r, opened := from.open(s)
								defer opened.Close()
								op.do(s, r)
								twice, m := touched(b, bytes.NewReader(s.data), len(s.data), func(r *afdo.Reader) {
									op.do(s, r)
									op.do(s, r)
								})
								reads, n = twice-reads, m-n // of the second time, which is what is measured
								measure(b, func() { op.do(s, r) })
							} else {
								measure(b, func() {
									r, opened := from.open(s)
									op.do(s, r)
									_ = opened.Close()
								})
							}
							if op.name == "check" {
								n = len(s.data) // which it reads without the Reader that counts
							}
							beside(b, s.data, n)
							b.ReportMetric(float64(n), "file-B/op")
							b.ReportMetric(float64(reads), "reads/op")
						})
					}
				}
			}
		})
	}
}

// BenchmarkWalk visits all records of a file whose sections have been read before.
func BenchmarkWalk(b *testing.B) {
	for _, c := range corpora {
		b.Run("corpus="+c.name, func(b *testing.B) {
			c.profile(b)
			for _, m := range modes {
				s := newSubject(b, c, m.format)
				infos, size := s.infos()
				b.Run("mode="+m.name, func(b *testing.B) {
					s.tb = b
					var cursor afdo.Cursor
					records := 0
					for _, info := range infos {
						for cursor.Reset(info); cursor.Next(); {
							records++
						}
					}
					measure(b, func() {
						for i := range infos {
							sink += s.walk(&cursor, &infos[i])
						}
					})
					beside(b, s.data, size)
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
				})
			}
		})
	}
}
