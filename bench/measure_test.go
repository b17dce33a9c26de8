package bench

import (
	"io"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
)

// sink takes results, so that the compiler does not remove their computation.
var sink uint64

// measure runs op as a benchmark and also reports its processor time.
func measure(b *testing.B, op func()) {
	b.Helper()
	b.ReportAllocs()
	start := processorTime()
	for b.Loop() {
		op()
	}
	if spent := processorTime() - start; spent > 0 {
		b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
	}
}

// beside reports the time of one op as a multiple of the time that xxhash64 takes for n bytes of
// data.
func beside(b *testing.B, data []byte, n int) {
	b.Helper()
	b.SetBytes(int64(n))
	perOp := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	whole := float64(n/len(data)) * hashTime(data) // a check reads parts of a file several times
	b.ReportMetric(perOp/(whole+hashTime(data[:n%len(data)])), "x-of-xxhash")
}

// hashTimes caches the results of hashTime, by the number of bytes.
var hashTimes = make(map[int]float64)

// hashTime returns the shortest measured time of xxhash64 over data, in nanoseconds.
func hashTime(data []byte) float64 {
	if len(data) == 0 {
		return 0
	}
	best, ok := hashTimes[len(data)]
	if ok {
		return best
	}
	for range 10 {
		rounds, start := 0, time.Now()
		for time.Since(start) < time.Millisecond {
			sink += xxhash.Sum64(data)
			rounds++
		}
		if t := float64(time.Since(start).Nanoseconds()) / float64(rounds); best == 0 || t < best {
			best = t
		}
	}
	hashTimes[len(data)] = best
	return best
}

// A counter is a file that counts the reads from it and their bytes.
type counter struct {
	io.ReaderAt
	reads, bytes int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// touched returns how many reads an operation on a Reader makes, and how many bytes they read.
func touched(tb testing.TB, data io.ReaderAt, size int, op func(*afdo.Reader)) (reads, bytes int) {
	tb.Helper()
	c := &counter{ReaderAt: data}
	r, err := afdo.NewReader(c, int64(size), afdo.TrustIndex())
	if err != nil {
		tb.Fatal(err)
	}
	op(r)
	return c.reads, c.bytes
}
