package anyprof_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

func compress(t testing.TB, data []byte) []byte {
	var packed bytes.Buffer
	c, err := anyprof.NewCompressor(&packed)
	require.NoError(t, err)
	_, err = io.Copy(c, inPieces{bytes.NewReader(data)})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	return packed.Bytes()
}

// An inPieces is a reader that returns at most 5,000 bytes from each Read.
type inPieces struct{ io.Reader }

func (r inPieces) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 5000)]) }

// unitsAsText returns the text form of each unit, by path.
func unitsAsText(t *testing.T, p *anyprof.Profile) (texts map[string]string) {
	texts = make(map[string]string)
	r := p.Model().(*afdo.Reader)
	for u, err := range r.Units() {
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, textfmt.PrintUnit(&text, r, u))
		texts[u.Path()] = text.String()
	}
	return texts
}

// Units of a compressed file are the same as in the uncompressed file, however the file is opened.
func TestCompressedUnits(t *testing.T) {
	profiles := map[string]*profile.Profile{"small": synth.Profile(synth.Small)}
	if testenv.Sweep() {
		for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
			p, err := gcov.ParseBytes(testenv.CorpusData(t, name+".v3"))
			require.NoError(t, err)
			profiles[name] = p
		}
	}
	options := []builder.Options{{Compact: true, Index: &index.Options{Producer: "test"}}, {Compact: true}, {}}
	for name, p := range profiles {
		for _, o := range options[:testenv.Rounds(1, 3, 3)] {
			var plain bytes.Buffer
			require.NoError(t, builder.Write(&plain, p, o))
			packed := compress(t, plain.Bytes())
			require.Less(t, len(packed), plain.Len())
			path := filepath.Join(t.TempDir(), "all.afdo.zst")
			require.NoError(t, os.WriteFile(path, packed, 0o666))
			opened := func(p *anyprof.Profile, err error) map[string]string {
				require.NoError(t, err)
				defer p.Close()
				return unitsAsText(t, p)
			}
			want := opened(anyprof.OpenAt(context.Background(), bytes.NewReader(plain.Bytes()), int64(plain.Len())))
			assert.Equal(t, want, opened(anyprof.Open(context.Background(), path)), name)
			assert.Equal(t, want, opened(anyprof.OpenAt(context.Background(), bytes.NewReader(packed), int64(len(packed)))), name)
			assert.Equal(t, want, opened(anyprof.Read(context.Background(), bytes.NewReader(packed))), name)
			f, err := anyprof.TrustedFileAt(context.Background(), bytes.NewReader(packed), int64(len(packed)))
			require.NoError(t, err)
			assert.True(t, f.InPieces())
			assert.Equal(t, want, opened(f.Profile(anyprof.V4Options(afdo.TrustIndex()))), name)
		}
	}
}

// BenchmarkSizeCompressed reports the sizes of compressed files for docs/measured/size.md.
func BenchmarkSizeCompressed(b *testing.B) {
	for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
		b.Run(name, func(b *testing.B) {
			v3 := testenv.CorpusData(b, name+".v3")
			p, err := gcov.ParseBytes(v3)
			require.NoError(b, err)
			var compact, indexed, llvm bytes.Buffer
			require.NoError(b, builder.Write(&compact, p, builder.Options{Compact: true}))
			require.NoError(b, builder.Write(&indexed, p, builder.Options{Compact: true, Index: &index.Options{Producer: "bench"}}))
			samples, _ := sampleprof.FromGCOV(p)
			require.NoError(b, sampleprof.WriteExtBinary(&llvm, samples, sampleprof.WriteOptions{Compress: true}))
			for b.Loop() {
			}
			b.ReportMetric(0, "ns/op")
			for what, size := range map[string]int{
				"v4c": compact.Len(), "v4c-index": indexed.Len(), "v4c-zst": len(compress(b, compact.Bytes())),
				"v4c-index-zst": len(compress(b, indexed.Bytes())), "v3-zst": len(compress(b, v3)), "extbinary-compress": llvm.Len(),
				"v3-zstd19": zstd19(b, v3), "v4c-zstd19": zstd19(b, compact.Bytes()), "v4c-index-zstd19": zstd19(b, indexed.Bytes()),
			} {
				b.ReportMetric(float64(size), what)
			}
		})
	}
}

// zstd19 returns the size of data compressed by "zstd -19".
func zstd19(b *testing.B, data []byte) int {
	cmd := exec.Command("zstd", "-19", "-c")
	cmd.Stdin = bytes.NewReader(data)
	packed, err := cmd.Output()
	if err != nil {
		b.Skip("no zstd")
	}
	return len(packed)
}

// A compressed text is read sequentially. A file that was compressed twice is not decompressed
// twice.
func TestCompressedText(t *testing.T) {
	var text, zipped bytes.Buffer
	require.NoError(t, textfmt.PrintProfile(&text, synth.Profile(synth.Small)))
	packed := compress(t, text.Bytes())
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text.Bytes()[:5000])
	require.NoError(t, z.Close())
	twice := compress(t, zipped.Bytes())
	for _, open := range []func([]byte) (*anyprof.File, error){
		func(data []byte) (*anyprof.File, error) {
			return anyprof.FileAt(context.Background(), bytes.NewReader(data), int64(len(data)))
		},
		func(data []byte) (*anyprof.File, error) {
			return anyprof.TrustedFileAt(context.Background(), bytes.NewReader(data), int64(len(data)))
		},
		func(data []byte) (*anyprof.File, error) {
			return anyprof.ReadFile(context.Background(), bytes.NewReader(data))
		},
	} {
		f, err := open(packed)
		require.NoError(t, err)
		assert.Equal(t, anyprof.Text, f.Format())
		got, err := f.ReadAll()
		require.NoError(t, err)
		assert.Equal(t, text.Bytes(), got)
		require.NoError(t, f.Close())
		_, err = open(twice)
		assert.ErrorIs(t, err, anyprof.ErrUnknown)
	}
}
