package unpack_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/unpack"
)

// pack compresses text into frames of the given uncompressed sizes. It returns the compressed file
// and the text.
func pack(t testing.TB, sizes ...int) (file, text []byte) {
	var packed bytes.Buffer
	p, err := unpack.NewPacker(&packed)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, uint64(len(sizes))))
	for _, size := range sizes {
		frame := make([]byte, size)
		for i := range frame {
			frame[i] = 'a' + byte(rng.IntN(5))
		}
		require.NoError(t, p.Frame(frame))
		text = append(text, frame...)
	}
	require.NoError(t, p.Close())
	return packed.Bytes(), text
}

// readAll decompresses a file as one stream.
func readAll(file []byte) ([]byte, error) {
	s, err := unpack.New(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return io.ReadAll(s)
}

func TestSeekable(t *testing.T) {
	file, text := pack(t, 1000, 1, 70_000, 0, 300, 20_000)
	s, err := unpack.OpenSeekable(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.EqualValues(t, len(text), s.Size())
	for _, r := range [][2]int{{0, 0}, {0, 1}, {0, 1000}, {999, 3}, {1000, 1}, {1001, 70_000}, {500, 80_000}, {71_001, 300}, {0, len(text)}, {len(text) - 1, 1}} {
		p := make([]byte, r[1])
		n, err := s.ReadAt(p, int64(r[0]))
		require.NoError(t, err, r)
		require.Equal(t, text[r[0]:r[0]+r[1]], p[:n], r)
	}
	p := make([]byte, 10)
	n, err := s.ReadAt(p, int64(len(text)-4))
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, text[len(text)-4:], p[:n])
	_, err = s.ReadAt(p, int64(len(text)))
	assert.Equal(t, io.EOF, err)
	_, err = s.ReadAt(p, -1)
	assert.EqualError(t, err, "zstd: offset -1")

	whole, err := readAll(file)
	require.NoError(t, err)
	assert.Equal(t, text, whole)
	if zstd, err := exec.LookPath("zstd"); err == nil {
		cmd := exec.Command(zstd, "-dc")
		cmd.Stdin = bytes.NewReader(file)
		whole, err := cmd.Output()
		require.NoError(t, err)
		assert.Equal(t, text, whole)
	}
}

// A countedReads counts the reads and the bytes that are read through it.
type countedReads struct {
	io.ReaderAt
	reads, bytes int
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads, c.bytes = c.reads+1, c.bytes+len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// TestSeekableReads checks that neighbouring frames are read at once, and that a frame in memory is
// not read again.
func TestSeekableReads(t *testing.T) {
	file, text := pack(t, 1000, 1000, 1000, 1000, 1000)
	src := &countedReads{ReaderAt: bytes.NewReader(file)}
	s, err := unpack.OpenSeekable(src, int64(len(file)))
	require.NoError(t, err)
	for _, r := range []struct{ off, size, reads int }{{1500, 10, 1}, {1000, 1000, 0}, {500, 2000, 1}, {0, 3000, 0}, {100, 4900, 1}, {0, len(text), 0}} {
		src.reads, src.bytes = 0, 0
		_, err := s.ReadAt(make([]byte, r.size), int64(r.off))
		require.NoError(t, err)
		assert.Equal(t, r.reads, src.reads, r)
		assert.Less(t, src.bytes, len(file)-2*9-8*5)
	}
}

func TestSeekableCorrupt(t *testing.T) {
	good, text := pack(t, 1000, 2000)
	table := len(good) - 8 - 2*8 - 9
	for _, c := range []struct {
		name  string
		at    int
		value uint32 // added
		class error
		err   string
	}{
		{"number of frames", len(good) - 9, 1, fault.ErrCompressed, "zstd: seek table at offset 1085: bad compressed data: no skippable frame of 33 bytes begins here"},
		{"many frames", len(good) - 9, 1 << 31, fault.ErrCount, "zstd: seek table at offset 1117: bad count: a table of 2147483650 frames does not fit in 1126 bytes"},
		{"descriptor", len(good) - 5, 4, fault.ErrCompressed, "zstd: seek table at offset 1121: bad compressed data: reserved bits of the descriptor 0x4 are set"},
		{"magic of the table", table, 1, fault.ErrCompressed, "zstd: seek table at offset 1093: bad compressed data: no skippable frame of 25 bytes begins here"},
		{"size of the table", table + 4, 1, fault.ErrCompressed, "zstd: seek table at offset 1093: bad compressed data: no skippable frame of 25 bytes begins here"},
		{"first frame too long", table + 8, 1 << 20, fault.ErrCount, "zstd: seek table at offset 1101: bad count: frames of 1048940 bytes, there are 1093 before the table"},
		{"frames too long", table + 16, 1, fault.ErrCount, "zstd: seek table at offset 1109: bad count: frames of 1094 bytes, there are 1093 before the table"},
		{"frames too short", table + 16, ^uint32(0), fault.ErrCount, "zstd: seek table at offset 1109: bad count: frames of 1092 bytes, there are 1093 before the table"},
		{"unpacked too long", table + 12, 1 << 30, fault.ErrLimit, "zstd: seek table at offset 1101: limit exceeded: it unpacks to more than 64 times its size and 16 MiB"},
		{"unpacked longer", table + 12, 1, fault.ErrCompressed, "zstd: frame at offset 0: bad compressed data: a frame of 364 bytes that unpacks to 1001: its size differs from the seek table's"},
		{"unpacked shorter", table + 20, ^uint32(0), fault.ErrCompressed, "zstd: frame at offset 364: bad compressed data: a frame of 729 bytes that unpacks to 1999: its size differs from the seek table's"},
		{"frame", 300, 1, fault.ErrCompressed, "zstd: frame at offset 0: bad compressed data: a frame of 364 bytes that unpacks to 1000: CRC check failed"},
	} {
		bad := slices.Clone(good)
		binary.LittleEndian.PutUint32(bad[c.at:], binary.LittleEndian.Uint32(bad[c.at:])+c.value)
		s, err := unpack.OpenSeekable(bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			_, err = s.ReadAt(make([]byte, len(text)), 0)
		}
		require.ErrorIs(t, err, c.class, c.name)
		assert.EqualError(t, err, c.err, c.name)
	}
	for _, file := range [][]byte{nil, good[:16], good[:len(good)-1], text} {
		s, err := unpack.OpenSeekable(bytes.NewReader(file), int64(len(file)))
		assert.NoError(t, err)
		assert.Nil(t, s)
	}
}

// FuzzSeekable reads parts of an arbitrary file through Seekable. They must equal the parts of the
// file decompressed as one stream.
func FuzzSeekable(f *testing.F) {
	for _, sizes := range [][]int{{}, {1}, {1000, 2000}, {1, 1, 1}} {
		file, _ := pack(f, sizes...)
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := unpack.OpenSeekable(bytes.NewReader(file), int64(len(file)))
		if err != nil || s == nil {
			return
		}
		require.LessOrEqual(t, s.Size(), int64(16<<20+64*len(file)))
		text := make([]byte, s.Size())
		if n, err := s.ReadAt(text, 0); err != nil && err != io.EOF {
			return
		} else if require.Equal(t, len(text), n); n == 0 {
			return
		}
		whole, err := readAll(file)
		if errors.Is(err, fault.ErrLimit) || !bytes.HasPrefix(file, []byte("\x28\xb5\x2f\xfd")) {
			return // the stream's limit is checked as it is read, and it has to begin with a frame of data
		}
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, whole))
	})
}
