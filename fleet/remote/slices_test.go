package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// narrow is a source with a latency and a bandwidth: it waits before each answer, and sends 10 MB/s
// in all.
type narrow struct {
	memory
	mu sync.Mutex
}

func (n *narrow) Fetch(ctx context.Context, r source.Range, known source.Version) (source.Part, error) {
	p, err := slow{n.memory}.Fetch(ctx, r, known)
	n.mu.Lock()
	defer n.mu.Unlock()
	time.Sleep(time.Duration(p.High-p.Low) * time.Second / 10_000_000)
	return p, err
}

// BenchmarkSlices compares two ways in which many compiles read the slices of some units. Either
// they read blocks of the remote file through a cache, or they wait until one of them has
// downloaded the file.
func BenchmarkSlices(b *testing.B) {
	for name, o := range map[string]synth.Options{"android": synth.Android, "bootstrap": synth.Bootstrap} {
		var file bytes.Buffer
		require.NoError(b, builder.Write(&file, synth.Profile(o), builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}}))
		data := file.Bytes()
		measure := func(name string, work func(*remote.File), options ...remote.Option) {
			b.Run(name, func(b *testing.B) {
				var stats remote.Stats
				for b.Loop() {
					f, err := remote.Open(b.Context(), "", append([]remote.Option{source.Use(&narrow{memory: memory{data}})}, options...)...)
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
		for _, units := range []int{1, 20, 100} {
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

// BenchmarkLayouts measures how large a profile would be if a compile could fetch all that it needs
// of a unit in one range of bytes. Each unit would contain either its slice, or the names of other
// units' symbols to which its records refer. The size is measured for 40 units and scaled up to all
// units. The time is that of fetching the slice of one unit.
func BenchmarkLayouts(b *testing.B) {
	profiles := map[string]func() *profile.Profile{
		"android":   func() *profile.Profile { return synth.Profile(synth.Android) },
		"bootstrap": func() *profile.Profile { return synth.Profile(synth.Bootstrap) },
	}
	for _, name := range []string{"libgui", "libart_arm"} {
		profiles[name] = func() *profile.Profile {
			p, err := gcov.ParseBytes(testenv.CorpusData(b, name+".v3"))
			require.NoError(b, err)
			return p
		}
	}
	for name, made := range profiles {
		for _, target := range []slice.Target{slice.Version2, slice.Version3} {
			b.Run(fmt.Sprintf("profile=%s/target=%d", name, target), func(b *testing.B) {
				p := made()
				file := encoded(b, p)
				paths := remotetest.SomeUnits(b, file, 40)
				whole := slice.FromProfile(p)
				var all bytes.Buffer
				for _, path := range paths {
					part, err := whole.Select(slice.Request{Target: target, Units: []string{path}})
					require.NoError(b, err)
					all.Write(encoded(b, part))
				}
				one := int64(all.Len() / len(paths))
				padded := make([]byte, one+256<<10) // the slice, a page of the index, and the end
				for b.Loop() {
					f, err := remote.Open(b.Context(), "", append([]remote.Option{source.Use(&narrow{memory: memory{padded}})}, asHelper...)...)
					require.NoError(b, err)
					for _, at := range []io.Reader{io.NewSectionReader(f, one, 1<<10), io.NewSectionReader(f, 0, one)} {
						_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, at, make([]byte, max(one, 1)))
						require.NoError(b, err)
					}
				}
				b.ReportMetric(float64(one*int64(p.NumUnits()))/float64(len(file)), "slices/file")
				b.ReportMetric(float64(foreignNames(p))/float64(len(file)), "names/file")
				b.ReportMetric(float64(one), "slice-B")
				b.ReportMetric(float64(len(file)), "file-B")
			})
		}
	}
}

func encoded(b *testing.B, p *profile.Profile) []byte {
	var file bytes.Buffer
	require.NoError(b, builder.Write(&file, p, builder.Options{Compact: true}))
	return file.Bytes()
}

// foreignNames estimates the bytes that a unit needs to contain the names and IDs of other units'
// symbols to which its records refer. It assumes that the names are sorted, and that each is stored
// without the beginning that it shares with the name before it. The result is the sum over all
// units.
func foreignNames(p *profile.Profile) (size int) {
	foreign := make(map[profile.UnitRef]map[string]bool)
	for ref, f := range p.Functions() {
		unit := p.SymbolUnit(ref)
		if foreign[unit] == nil {
			foreign[unit] = make(map[string]bool)
		}
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind != profile.KindCount && p.SymbolUnit(r.Callee) != unit {
				foreign[unit][p.SymbolName(r.Callee)] = true
			}
		}
	}
	const idAndLengths = 4
	for _, names := range foreign {
		before := ""
		for _, name := range slices.Sorted(maps.Keys(names)) {
			shared := 0
			for shared < min(len(name), len(before)) && name[shared] == before[shared] {
				shared++
			}
			size += len(name) - shared + idAndLengths
			before = name
		}
	}
	return size
}
