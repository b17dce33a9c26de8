package remote_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// blocks is the option for the cache that the program afdo-fetch uses.
var blocks = remote.Cache(16<<10, 1024)

// readUnit reads one unit of the server's file and its symbols. If records is set, it also reads
// the records of the symbols. It returns the number of requests and bytes.
func readUnit(t testing.TB, s *server, path string, records bool, options ...remote.Option) remote.Stats {
	t.Helper()
	f, err := remote.Open(t.Context(), s.URL, options...)
	require.NoError(t, err)
	r, err := afdo.NewReader(f, f.Size(), afdo.TrustIndex())
	require.NoError(t, err)
	u, err := r.Unit(path)
	require.NoError(t, err)
	require.NoError(t, u.Load())
	for symbol, err := range u.Symbols() {
		require.NoError(t, err)
		if !records || !symbol.HasInfo() {
			continue
		}
		info, err := symbol.Info()
		require.NoError(t, err)
		require.NotNil(t, info)
	}
	return f.Stats()
}

// Reading one unit of a file of some megabytes takes few requests, and fetches a small part of the
// file.
func TestUnitRequests(t *testing.T) {
	units := testenv.Rounds(5, 14)
	for _, indexed := range []bool{false, true} {
		data := remotetest.Written(t, synth.Medium, indexed)
		s := serve(t, data)
		total := int64(0)
		for _, path := range remotetest.SomeUnits(t, data, units) {
			stats := readUnit(t, s, path, true)
			require.LessOrEqual(t, stats.Requests, int64(3), "%s, index %v", path, indexed)
			require.Less(t, stats.Bytes, int64(len(data)/4), "%s, index %v", path, indexed)
			total += stats.Bytes
		}
		if indexed {
			require.Less(t, total/int64(units), int64(200_000))
		}
	}
}

// BenchmarkUnit reads a unit from a server whose answers take 20 ms.
func BenchmarkUnit(b *testing.B) {
	for _, size := range []struct {
		name    string
		options synth.Options
	}{{"medium", synth.Medium}, {"android", synth.Android}, {"bootstrap", synth.Bootstrap}} {
		for _, indexed := range []bool{false, true} {
			data := remotetest.Written(b, size.options, indexed)
			paths := remotetest.SomeUnits(b, data, 14)
			for name, options := range map[string][]remote.Option{"none": nil, "16KiB": {blocks}} {
				b.Run(fmt.Sprintf("profile=%s/index=%v/cache=%s", size.name, indexed, name), func(b *testing.B) {
					s := serve(b, data)
					s.latency = 20 * time.Millisecond
					var total remote.Stats
					most, i := int64(0), 0
					for b.Loop() {
						stats := readUnit(b, s, paths[i%len(paths)], false, options...)
						total.Requests += stats.Requests
						total.Bytes += stats.Bytes
						most = max(most, stats.Requests)
						i++
					}
					b.ReportMetric(float64(total.Requests)/float64(i), "requests/op")
					b.ReportMetric(float64(most), "most-requests")
					b.ReportMetric(float64(total.Bytes)/float64(i), "fetched-B/op")
					b.ReportMetric(float64(len(data)), "file-B")
				})
			}
		}
	}
}

// large returns a compact version 4 file of 117 MB.
var large = synth.Options{Seed: 1, Units: 15_000, Functions: 650_000}

// BenchmarkNames reads a unit and the names of all its callees, as afdo-fetch does, from a server
// whose answers take 20 ms.
func BenchmarkNames(b *testing.B) {
	profiles := []synth.Options{synth.Android, synth.Bootstrap}
	names := map[synth.Options]string{synth.Android: "android", synth.Bootstrap: "bootstrap", large: "large"}
	if testenv.Sweep() {
		profiles = append(profiles, large)
	}
	for _, o := range profiles {
		for _, indexed := range []bool{false, true} {
			data := remotetest.Compact(b, o, indexed)
			paths := remotetest.SomeUnits(b, data, 40)
			b.Run(fmt.Sprintf("profile=%s/index=%v", names[o], indexed), func(b *testing.B) {
				var all []costs
				for b.Loop() {
					c, _ := costsOf(b, slow{memory{data}}, paths[len(all)%len(paths)], asHelper...)
					all = append(all, c)
				}
				report(b, "unit", all, func(c *costs) remote.Stats { return c.unit })
				report(b, "names", all, func(c *costs) remote.Stats { return c.text })
				b.ReportMetric(float64(len(data)), "file-B")
			})
		}
	}
}

// report reports the mean and the largest numbers of requests and bytes of several reads.
func report(b *testing.B, of string, all []costs, part func(*costs) remote.Stats) {
	var sum, most remote.Stats
	for i := range all {
		s := part(&all[i])
		sum.Requests, sum.Bytes = sum.Requests+s.Requests, sum.Bytes+s.Bytes
		most.Requests, most.Bytes = max(most.Requests, s.Requests), max(most.Bytes, s.Bytes)
	}
	n := float64(len(all))
	b.ReportMetric(float64(sum.Requests)/n, of+"-requests/op")
	b.ReportMetric(float64(most.Requests), of+"-most-requests")
	b.ReportMetric(float64(sum.Bytes)/n, of+"-B/op")
	b.ReportMetric(float64(most.Bytes), of+"-most-B")
}

// slow is a source that waits before each answer.
type slow struct{ memory }

func (s slow) Fetch(ctx context.Context, r source.Range, known source.Version) (source.Part, error) {
	time.Sleep(20 * time.Millisecond)
	return s.memory.Fetch(ctx, r, known)
}
