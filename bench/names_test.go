package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/bench/names"
	"github.com/go-afdo/afdo/profile"
)

// nameSets are how many names to look one up in: those of small and large units, and of a whole
// program.
var nameSets = []int{10, 50, 500, 5_000, 150_000}

// namesOf returns n names of as few units as possible, and others of the same profile.
func namesOf(p *profile.Profile, n int) (in, out []string) {
	all := make([]string, p.NumSymbols())
	units := make([]int, p.NumUnits())
	for s := range all {
		all[s] = p.SymbolName(profile.SymbolRef(s))
		units[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	start, best := 0, len(all)
	for first, s := 0, 0; s < len(all); first = s {
		size := units[p.SymbolUnit(profile.SymbolRef(s))]
		if s += size; size >= n && size < best {
			start, best = first, size
		}
	}
	in = all[start : start+n]
	out = append(append(out, all[:start]...), all[start+n:]...)
	return in, out
}

// shuffled returns up to n of the strings in random order, each with bytes of its own.
func shuffled(from []string, n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	some := make([]string, min(len(from), n))
	for i, j := range rng.Perm(len(from))[:len(some)] {
		some[i] = string([]byte(from[j]))
	}
	return some
}

// BenchmarkNames looks names up in the tables of package names.
func BenchmarkNames(b *testing.B) {
	p := bootstrap.profile(b)
	for _, n := range nameSets {
		in, out := namesOf(p, n)
		bytes := 0
		for _, name := range in {
			bytes += len(name)
		}
		some := min(n, 1<<14) // names to look up, so that a large table is met where it is not in the cache
		hits, misses := shuffled(in, some), shuffled(out, some)
		for _, kind := range names.Kinds {
			b.Run(fmt.Sprintf("names=%d/table=%s", n, kind.Name), func(b *testing.B) {
				table, err := kind.New(in)
				require.NoError(b, err)
				for _, find := range []struct {
					what  string
					names []string
				}{{"hit", hits}, {"miss", misses}} {
					b.Run("find="+find.what, func(b *testing.B) {
						for begun, i := time.Now(), 0; i < len(find.names) && time.Since(begun) < 5*time.Millisecond; i++ {
							table.Find(find.names[i]) // so that little is met for the first time
						}
						found, next := 0, 0
						start := processorTime()
						for b.Loop() {
							if _, ok := table.Find(find.names[next]); ok {
								found++
							}
							if next++; next == len(find.names) {
								next = 0
							}
						}
						spent := processorTime() - start
						want := 0
						if find.what == "hit" {
							want = b.N
						}
						require.Equal(b, want, found)
						if spent > 0 {
							b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
						}
						b.ReportMetric(float64(table.Size())/float64(n), "table-B/name")
						b.ReportMetric(float64(bytes)/float64(n), "plain-B/name")
					})
				}
			})
		}
	}
}
