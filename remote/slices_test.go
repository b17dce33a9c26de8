package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/remote"
	"github.com/go-afdo/afdo/slice"
)

// narrow is a source that waits before each answer, and sends 10 MB/s, all answers together.
type narrow struct {
	memory
	mu sync.Mutex
}

func (n *narrow) Fetch(ctx context.Context, r remote.Range, known remote.Version) (remote.Part, error) {
	p, err := slow{n.memory}.Fetch(ctx, r, known)
	n.mu.Lock()
	defer n.mu.Unlock()
	time.Sleep(time.Duration(p.High-p.Low) * time.Second / 10_000_000)
	return p, err
}

// BenchmarkSlices compares what compiles with slices of some units wait for if the blocks that they
// read are kept, with what one waits for that downloads the file.
func BenchmarkSlices(b *testing.B) {
	for name, o := range map[string]synth.Options{"android": synth.Android, "bootstrap": synth.Bootstrap} {
		var file bytes.Buffer
		require.NoError(b, builder.Write(&file, synth.Profile(o), builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}}))
		data := file.Bytes()
		measure := func(name string, work func(*remote.File), options ...remote.Option) {
			b.Run(name, func(b *testing.B) {
				var stats remote.Stats
				for b.Loop() {
					f, err := remote.OpenSource(b.Context(), &narrow{memory: memory{data}}, options...)
					require.NoError(b, err)
					work(f)
					stats = f.Stats()
				}
				b.ReportMetric(float64(stats.Requests), "requests")
				b.ReportMetric(float64(stats.Bytes), "fetched-B")
				b.ReportMetric(float64(len(data)), "file-B")
			})
		}
		measure("profile="+name+"/whole", func(f *remote.File) {
			_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.NewSectionReader(f, 0, f.Size()), make([]byte, 4<<20))
			require.NoError(b, err)
		}, remote.Tail(1))
		for _, units := range []int{1, 10, 100} {
			measure(fmt.Sprintf("profile=%s/units=%d", name, units), func(f *remote.File) {
				for _, path := range remotetest.SomeUnits(b, data, units+1)[1:] {
					r, err := afdo.NewReader(f, f.Size(), afdo.TrustIndex())
					require.NoError(b, err)
					p, err := slice.FromReader(r)
					require.NoError(b, err)
					_, err = p.Select(slice.Request{Target: slice.Version2, Units: []string{path}})
					require.NoError(b, err)
				}
			}, remote.Cache(64<<10, 1<<20))
		}
	}
}
