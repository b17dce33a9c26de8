package input

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
)

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zstandard(t *testing.T, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

// noise returns data that begins like a profile and continues with bytes that cannot be compressed.
func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return append([]byte("gcov"), b...)
}

// TestOpen checks that the contents are the same for every compression and every source of a file.
func TestOpen(t *testing.T) {
	for _, data := range [][]byte{[]byte("gcov"), []byte(strings.Repeat("filenames = {}\n", 100)), noise(100_000)} {
		for name, packed := range map[string][]byte{
			"plain": data, "gzip": gzipped(t, data), "zstd": zstandard(t, data),
			"members": append(gzipped(t, data), gzipped(t, data)...),
			"frames":  append(zstandard(t, data), zstandard(t, data)...),
		} {
			want := data
			if name == "members" || name == "frames" {
				want = append(append([]byte{}, data...), data...)
			}
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, packed, 0o666))
			for _, from := range []string{path, "-", "slow"} {
				f, err := Open(bytes.NewReader(packed), path)
				if from != path {
					f, err = Open(bytes.NewReader(packed), "-")
				}
				if from == "slow" {
					f, err = New("slow", iotest.OneByteReader(bytes.NewReader(packed)))
				}
				require.NoError(t, err, "%s %s", name, from)
				assert.Equal(t, from == path && name == "plain", f.Path() != "", "%s %s", name, from)
				assert.Equal(t, string(want[:min(len(want), anyprof.HeadLen)]), string(f.Head()), "%s %s", name, from)
				got, err := io.ReadAll(f)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got), "%s %s", name, from)
				f.Close()
			}
		}
	}
}

func TestCorrupt(t *testing.T) {
	data := noise(10_000)
	for name, packed := range map[string][]byte{"gzip": gzipped(t, data), "zstd": zstandard(t, data)} {
		t.Run(name, func(t *testing.T) {
			for cut := 4; cut < len(packed); cut += 97 {
				err := readAll(packed[:cut])
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s cut to %d bytes", name, cut)
				require.ErrorContains(t, err, "in: "+name+" data: ")
			}
			packed[len(packed)/2] ^= 1
			assert.ErrorContains(t, readAll(packed), "in: "+name+" data: ")
		})
	}
}

func readAll(data []byte) error {
	f, err := New("in", bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return f.Wrap(err)
}

// TestBomb checks that a small compressed file cannot take gigabytes when it is decompressed.
func TestBomb(t *testing.T) {
	zeros := append([]byte("gcov"), make([]byte, 20<<20)...)
	for name, pack := range map[string]func(*testing.T, []byte) []byte{"gzip": gzipped, "zstd": zstandard} {
		packed := pack(t, zeros)
		err := readAll(packed)
		assert.ErrorIs(t, err, afdo.ErrLimit, name)
		assert.ErrorContains(t, err, "it unpacks to more than 64 times its size and 16 MiB", name)
		assert.NoError(t, readAll(pack(t, zeros[:16<<20])), name)
	}
	const frameOf64MiB = "\x28\xb5\x2f\xfd\x00\x80\x01\x00\x00"
	assert.ErrorContains(t, readAll([]byte(frameOf64MiB)), "window size exceeded")
}

func TestWrap(t *testing.T) {
	_, err := Open(nil, filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, err, Wrap("x", err), "it names the file already")
	assert.NoError(t, Wrap("x", nil))
	assert.EqualError(t, Wrap("x", io.ErrUnexpectedEOF), "x: unexpected EOF")
}
