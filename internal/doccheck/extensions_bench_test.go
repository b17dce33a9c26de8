package doccheck

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// BenchmarkIndexSize reports the size in bytes of each block of an index that the command writes,
// for the real profiles of docs/measured/size.md and for a synthetic one as large as that of a
// compiler's bootstrap.
func BenchmarkIndexSize(b *testing.B) {
	for _, name := range []string{"libgui", "libart_arm", "keystore2", "bootstrap"} {
		b.Run("profile="+name, func(b *testing.B) {
			for _, mode := range []string{"normal", "compact"} {
				b.Run("mode="+mode, func(b *testing.B) { reportIndexSize(b, measuredProfile(b, name), mode == "compact") })
			}
		})
	}
}

func measuredProfile(b *testing.B, name string) *profile.Profile {
	if name == "bootstrap" {
		return synth.Profile(synth.Bootstrap)
	}
	dir := cmp.Or(os.Getenv("AFDO_CORPUS"), filepath.Join(root, "..", "shared", "corpus"))
	data, err := os.ReadFile(filepath.Join(dir, name+".v3"))
	if os.IsNotExist(err) {
		b.Skip("the corpus of real profiles is not here; see AFDO_CORPUS")
	}
	require.NoError(b, err)
	p, err := gcov.ParseBytes(data)
	require.NoError(b, err)
	return p
}

func reportIndexSize(b *testing.B, p *profile.Profile, compact bool) {
	var plain, file bytes.Buffer
	require.NoError(b, builder.Write(&plain, p, builder.Options{Compact: compact}))
	r, err := afdo.OpenBytes(plain.Bytes())
	require.NoError(b, err)
	require.NoError(b, index.Write(&file, r, &index.Options{
		Producer: "afdo v0.1.0", Unqualified: slice.Names,
		FingerprintScheme: slice.FingerprintScheme,
		Fingerprint:       func(*afdo.Unit) (uint64, error) { return 0, nil }, // its size is what counts
	}))
	r, err = afdo.OpenBytes(file.Bytes())
	require.NoError(b, err)
	x, err := index.Read(r)
	require.NoError(b, err)
	info, err := x.Info()
	require.NoError(b, err)
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	for _, block := range info.Blocks {
		b.ReportMetric(float64(block.Size), strings.ReplaceAll(block.Kind, " ", "-"))
	}
	b.ReportMetric(float64(plain.Len()), "file")
	b.ReportMetric(float64(file.Len()-plain.Len()), "index")
	b.ReportMetric(100*float64(file.Len()-plain.Len())/float64(plain.Len()), "%file")
}
